#compdef weft
# Completion of weft in zsh: the program itself says what fits (cli/complete.c).
_weft() {
    local word help files=
    local -a whole whole_help open open_help
    while IFS=$'\t' read -r word help; do
        if [[ $word == :files ]]; then
            files=yes
        elif [[ $word == *[=.:] ]]; then
            open+=("$word") open_help+=("$word  $help")
        else
            whole+=("$word") whole_help+=("$word  $help")
        fi
    done < <("${(Q)words[1]}" help --words "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    (( $#whole )) && compadd -l -d whole_help -a whole
    (( $#open )) && compadd -l -S '' -d open_help -a open
    if [[ -n $files ]]; then
        compset -P '*='
        _files
    fi
}
_weft "$@"
