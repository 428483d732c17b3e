#!/bin/sh
# Print what a snapshot needs of a broker's log directories: the names of the partitions' directories, and three small
# files (meta.properties, partition.metadata, leader-epoch-checkpoint). Records are not read, and nothing is written.
#
#   sh list_logs.sh /data/logs-1 /data/logs-2 > broker-1.txt
#
# Then, on another machine: kwalk collect ZOOKEEPER --logs 1=broker-1.txt
set -u
LC_ALL=C
export LC_ALL
unset CDPATH

# A name or a line is printed in one line: %, line feeds and carriage returns are encoded. A line of a file that ends
# without a line feed is printed behind a plus.
escape='function escaped(text) {
  gsub(/%/, "%25", text); gsub(/\n/, "%0A", text); gsub(/\r/, "%0D", text); return text
}'
names="$escape"' BEGIN { for (i = 1; i < ARGC; i++) print "directory " escaped(ARGV[i]) }'
files="$escape"' BEGIN {
  for (i = 1; i < ARGC; i++) {
    print "file " escaped(ARGV[i])
    RS = "\001"
    got = (getline text < ARGV[i])
    close(ARGV[i])
    if (got < 0) print "unreadable"
    if (got <= 0) continue
    last = split(text, lines, "\n")
    for (n = 1; n < last && n <= 20000; n++) print "|" escaped(lines[n])
    if (lines[last] != "") print "+" escaped(lines[last])
  }
}'

if [ $# -eq 0 ]; then
  echo "usage: sh list_logs.sh LOG_DIRECTORY ... > FILE" >&2
  exit 2
fi
echo "kwalk log directories 1"
for folder do
  case $folder in
    /*) ;;
    *) folder=./$folder ;;
  esac
  awk "$escape"' BEGIN { print "root " escaped(ARGV[1]) }' "$folder"
  if ! cd "$folder/." 2>/dev/null; then
    echo missing
    continue
  fi
  find . ! -name . -prune -type f -name meta.properties -exec awk "$files" {} +
  find . ! -name . -prune -type d -name '*-*' -exec awk "$names" {} +
  find . ! -name . -path './*/*' -prune -type f \
    \( -name partition.metadata -o -name leader-epoch-checkpoint \) -exec awk "$files" {} +
  cd "$OLDPWD" || exit 1
done
echo end
