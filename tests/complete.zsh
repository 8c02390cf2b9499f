#!/usr/bin/env zsh
# What zsh offers for a line, a choice a line: a shell on a terminal of its own presses tab, and compadd, which adds choices, also
# writes those that fit to a file.
#     zsh -f tests/complete.zsh FOLDER LINE
zmodload zsh/zpty
offers=$(mktemp)
zpty z zsh -f -i
zpty -w z "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word"
zpty -w z "compadd() { local -a fit; builtin compadd -A fit \"\$@\"; print -rl -- \${IPREFIX}\${^fit} >>$offers; builtin compadd \"\$@\" }"
# Control-X says when all is done; no key that the terminal itself acts on before the shell reads it. What is typed is echoed, so it must
# not be what is waited for.
zpty -w z "tell() { print ov''er }; zle -N tell; bindkey '^X' tell; print rea''dy"
zpty -r -m z said '*ready*'
zpty -n -w z "$2"$'\t\x18'
zpty -r -m z said '*over*'
zpty -d z
sed 's,\\,,g' $offers
rm $offers
