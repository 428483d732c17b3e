#!/bin/sh
# Print what a snapshot needs of a broker's log directories: the names of the partitions' directories; three small files
# (meta.properties, partition.metadata, leader-epoch-checkpoint); the checkpoints of offsets; the names and sizes of
# segments; and the header of the first batch of each log, in front of its records. Records are not read, and nothing
# is written.
#
#   sh list_logs.sh /data/logs-1 /data/logs-2 > broker-1.txt
#
# Then, on another machine: kwalk collect ZOOKEEPER --logs 1=broker-1.txt
set -u
LC_ALL=C
export LC_ALL
unset CDPATH QUOTING_STYLE TIME_STYLE

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
    for (n = 1; n < last && n <= most; n++) print "|" escaped(lines[n])
    if (lines[last] != "") print "+" escaped(lines[last])
  }
}'

# Reads the sizes and names of segments, as stat or ls prints them: "SIZE ./t-0/00000000000000000000.log". They go to
# the file 3. One process prints the beginnings of hundreds of segments, the first of each directory. A directory with a
# line feed in its name takes several lines; the name is whole as soon as it has a slash.
segments="$escape"' function quoted(text) { gsub(/\047/, "\047\"\047\"\047", text); return "\047" text "\047" }
function show() {
  if (found != "") system("head -c 61 /dev/null" found)
  found = ""
}
{
  if (name == "") {
    at = index($0, " ./")
    if (!at) next
    size = by == "ls" ? $5 : $1
    name = substr($0, at + 1)
  } else name = name "\n" $0
  slash = index(substr(name, 3), "/")
  if (!slash) next
  folder = substr(name, 1, slash + 1)
  file = substr(name, slash + 3)
  if (folder ~ /-[0-9]+(\.[0-9a-f]+-(stray|delete|future))?$/) {
    print "segment " size " " escaped(name) | "cat >&3"
    if (!(folder in first) || file < first[folder]) { first[folder] = file; sizes[folder] = size }
  }
  name = ""
}
END {
  close("cat >&3")
  for (folder in first) if (sizes[folder] > 60) {
    found = found " " quoted(folder "/" first[folder])
    if (length(found) > 60000) show()
  }
  show()
}'

# Reads what head prints, in hexadecimal digits with a space before each byte: "\n==> ./", the name, " <==\n", and 61
# bytes, of which the seventeenth is the format of the batch. In formats before 2 a record begins in them: they are left
# out, as is a file that has been cut meanwhile, so that the next one does not begin where it should.
batches='BEGIN { mark = " 0a 3d 3d 3e 20 2e 2f"; next_command = " 3d 3d 3e 20 2f 64 65" }
function take(is_end) {
  while (at = index(bytes, mark)) {
    rest = substr(bytes, at + length(mark))
    start = index(rest, " 2f") + 3 * 25
    end = start + 3 * 5 + 3 * 61
    if (start == 75 || length(rest) < end + length(mark) && !is_end) return
    bytes = rest
    name = substr(rest, 1, start - 1)
    header = substr(rest, start + 15, 3 * 61)
    after = substr(rest, end, length(mark))
    if (length(header) < 3 * 61 || after != "" && after != mark && after != next_command) continue
    bytes = substr(rest, end)
    if (substr(header, 3 * 16 + 2, 2) != "02") continue
    gsub(/ /, "", name); gsub(/ /, "", header)
    print "batch " name " " header
  }
}
{ bytes = bytes $0; if (length(bytes) > 9000) take(0) }
END { take(1) }'

if [ $# -eq 0 ]; then
  echo "usage: sh list_logs.sh LOG_DIRECTORY ... > FILE" >&2
  exit 2
fi
digits='[0-9][0-9][0-9][0-9][0-9]'
by=ls
if [ "$(stat -c '%s %n' /dev/null 2>/dev/null)" = "0 /dev/null" ]; then by=stat; fi
sizes() {
  set -- . ! -name . -path './*/*' -prune -type f -name "$digits$digits$digits$digits.log"
  case $by in
    stat) find "$@" -exec stat -c '%s %n' {} + ;;
    ls) find "$@" -exec ls -ln {} + ;;
  esac
}

echo "kwalk log directories 2"
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
  find . ! -name . -prune -type f \( -name meta.properties -o -name log-start-offset-checkpoint \
    -o -name recovery-point-offset-checkpoint -o -name replication-offset-checkpoint \
    -o -name cleaner-offset-checkpoint \) \
    -exec awk -v most=2000000 "$files" {} +
  find . ! -name . -prune -type d -name '*-*' -exec awk "$names" {} +
  find . ! -name . -path './*/*' -prune -type f \
    \( -name partition.metadata -o -name leader-epoch-checkpoint \) -exec awk -v most=20000 "$files" {} +
  { sizes | awk -v by=$by "$segments" | od -An -v -tx1 | awk "$batches"; } 3>&1
  cd "$OLDPWD" || exit 1
done
echo end
