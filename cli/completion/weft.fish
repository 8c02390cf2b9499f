# Completion of weft in fish: the program itself says what fits (cli/complete.c).
function __weft_words
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] help --words $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            set -l before (string match -r '.*=' -- "$current")
            for file in (__fish_complete_path (string replace -r '.*=' '' -- "$current"))
                echo "$before$file"
            end
        else
            echo "$line"
        end
    end
end
complete -c weft -f -a '(__weft_words)'
