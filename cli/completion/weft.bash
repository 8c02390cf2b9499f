# Completion of weft in bash: the program itself says what fits (cli/complete.c).
_weft() {
    local line=${COMP_LINE:0:COMP_POINT} cur word help cut
    local -a words
    read -ra words <<<"$line"
    [[ $line == *[[:blank:]] ]] && words+=('')
    cur=${words[${#words[@]} - 1]}
    # Bash has parted the word at these, and puts in what is behind the last of them.
    cut=${cur%"${cur##*[=:]}"}
    COMPREPLY=()
    while IFS=$'\t' read -r word help; do
        if [[ $word == :files ]]; then
            compopt -o filenames 2>/dev/null
            while read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${cur##*=}")
        else
            COMPREPLY+=("${word#"$cut"}")
        fi
    done < <("${words[0]}" help --words "${words[@]:1}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=.:] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _weft weft
