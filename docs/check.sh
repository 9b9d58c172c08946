#!/bin/sh
# Checks a folder that "carbon-mirror evidence export" wrote. Needs only POSIX sh and OpenSSL 3. Run it in the folder:
#   sh /your/own/check.sh KEY [OLDER-CHECKPOINT]
# Get this script and KEY (64 hex characters, or NAME+HASH+KEY) from a source other than the folder. OLDER-CHECKPOINT is a file
# that you received earlier. Exit codes: 0 everything matches; 1 something does not; 2 nothing to check; 3 everything matches,
# but you gave no KEY.
set -u
export LC_ALL=C
W=$(mktemp -d) && [ -d "$W" ] || exit 2
trap 'rm -rf "$W"' EXIT && trap 'exit 1' HUP INT TERM
KEY=${1:-} OLDER=${2:-}

say() { printf '%s\n' "$*" | tr -cd '\n -~'; }
bad() { say "DOES NOT MATCH: $*"; echo 1 >>"$W/bad"; }
each_bad() { while read -r line; do bad "$line"; done; }
stop() { say "$*"; exit 2; }
size_of() { sed -n 2p "$1" | grep -xE '[1-9][0-9]{0,14}' || stop "$1 is not a checkpoint: it has no size." >&2; }
hex() { openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n'; }
hash_of() { openssl dgst -sha256 -r "$1" 2>/dev/null | cut -c1-64; }
# fill: writes a file for each input line, which has a file name and the bytes in hex. hashes_in: prints the hash of each file of
# such a folder whose name is a number.
fill() { mkdir -p "$W/$1" && run '{ print "printf \"" bytes($2) "\" >" $1 }' | (cd "$W/$1" && sh); }
hashes_in() { (cd "$W/$1" && find . -type f | cut -c3- | xargs openssl dgst -sha256 -r) 2>/dev/null | run '($2 ~ /^\*[0-9]+$/) { print substr($2, 2), $1 }' | sort -n; }
# If one of these tools failed inside a pipe, it would look as if nothing was found. So failures are recorded for demand_ended.
sort() { command sort "$@" || echo sort >>"$W/failed"; }
comm() { command comm "$@" || echo comm >>"$W/failed"; }
sed() { command sed "$@" || echo sed >>"$W/failed"; }
cut() { command cut "$@" || echo cut >>"$W/failed"; }
od() { command od "$@" || echo od >>"$W/failed"; }
run() {
  program=$1 && shift && echo begun >>"$W/begun"
  awk "$AWK$program"'
END { print "ended" >>(ENVIRON["W"] "/ended") }' "$@" || echo awk >>"$W/failed"
}
demand_ended() { [ ! -e "$W/failed" ] && [ "$(grep -c . "$W/begun")" = "$(grep -c . "$W/ended")" ] || stop "A tool failed, so the folder could not be checked."; }
is_key() { case $1 in *[!0-9a-f]*) return 1 ;; esac; [ ${#1} -eq 64 ]; }
# Stops unless each line of a file has exactly this form and contains only printable ASCII.
demand_form() {
  strange=$(tr -d '\n -~' <"$1" | od -An -v -tx1) && [ -z "$strange" ] && { grep -qvxE "$2" "$1"; [ $? -eq 1 ]; } ||
    stop "This is not an evidence folder: a line of $1 is malformed."
}
# Functions for awk. A line of a leaf is: position, salt (later: commitment), record. bytes: converts hex to escapes for printf.
# value: a field of the record as it is written. plain: the same without quotes.
AWK='BEGIN { for (i = 0; i < 256; i++) octal[sprintf("%02x", i)] = sprintf("\\%03o", i) }
function bytes(h,  s) { for (s = ""; h != ""; h = substr(h, 3)) s = s octal[substr(h, 1, 2)]; return s }
function record() { return substr($0, length($1) + length($2) + 3) }
function value(name,  s) {
  if (!match(s = record(), "[{,]\"" name "\":")) return ""
  s = substr(s, RSTART + RLENGTH)
  if (s ~ /^"/) match(s, /^"([^"\\]|\\.)*"/); else match(s, /^[^,}]*/)
  return substr(s, RSTART, RLENGTH)
}
function plain(name,  s) { s = value(name); return s ~ /^"/ ? substr(s, 2, length(s) - 2) : s }
'
export W
# Tests the tools: a tool that prints nothing, or calculates differently, would find no mismatch.
works() {
  [ "$(printf '10 c\n9 b\n' | run '($1 < 10) { printf "%.0f %s", $1 * 100000000000001, $2 }')" = '900000000000009 b' ] &&
    [ "$(printf '10 c\n9 b\n' | sort -n | cut -d' ' -f2 | tr '\n' ,)" = b,c, ] &&
    printf 'a\nb\n' >"$W/one" && printf 'b\nc\n' >"$W/other" && [ "$(comm -3 "$W/one" "$W/other" | tr -d '\n')" = "$(printf 'a\tc')" ] &&
    [ "$(printf AQL/ | hex)" = 0102ff ] && [ "$(printf 'abc' | sed 's/b/d/' | grep -c '^adc$')" = 1 ] &&
    printf abc >"$W/one" && [ "$(hash_of "$W/one")" = ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad ]
}
works 2>/dev/null || stop "A tool is missing or does not work here: awk, sort, cut, comm, od, sed, grep, tr and openssl are needed."
# made: whether a key (hex) made a signature (base64) of the file "text". signed: whether one of several keys signed a note.
made() {
  printf '%s\n' "key 302a300506032b6570032100$1" | fill made
  printf %s "$2" | openssl base64 -d -A | tail -c 64 >"$W/signature"
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$W/made/key" -rawin -in "$W/text" -sigfile "$W/signature" 2>/dev/null | grep -q '^Signature Verified'
}
signed() {
  sed '/^$/,$d' "$1" >"$W/text"
  for signature in $(sed -n '1,/^$/d; s/^— [^ ]* \([A-Za-z0-9+/=]*\)$/\1/p' "$1"); do for key in $2; do made "$key" "$signature" && return; done; done
  return 1
}

strange=$(find . ! -type f ! -type d -o -type f -size +2097151 | head -n 1)
[ -z "$strange" ] || stop "This is not an evidence folder: $strange is a link, a pipe or too large."
for file in WHAT.txt checkpoint.txt rows.txt context.txt nodes.txt others.txt named.txt; do
  [ -f $file ] || stop "This is not an evidence folder: $file is missing, or is not a file."
done
place='(0|[1-9][0-9]{0,14})' hash='[0-9a-f]{64}' group='[a-z]+(_[a-z]+)* (mirror|registry) [0-9]{4}-[0-9]{2}'
demand_form nodes.txt "(0|[1-9][0-9]?) $place $hash"
demand_form named.txt "$place $hash [a-z]+"
demand_form others.txt "$place $group $place $hash"
read -r what which <WHAT.txt
export what which
origin=$(sed -n 1p checkpoint.txt) size=$(size_of checkpoint.txt) || exit 2
say "Evidence of $what $which: log $origin, checkpoint of $size leaves, dated $(sed -n 4p checkpoint.txt)."

# 1. Leaves. The commitment is the SHA-256 of salt and record. The leaf hash is the SHA-256 of a byte 0 and the commitment.
sort -n rows.txt context.txt >"$W/leaves"
run '(!/^(0|[1-9][0-9]*) [0-9a-f]+ [{].*[}]$/ || (length($1) > 15) || (length($2) != 64) || ($1 in seen)) { print "line " NR " of rows.txt and context.txt is not a leaf, or is a duplicate" } { seen[$1] }' "$W/leaves" | each_bad
[ ! -f "$W/bad" ] || exit 1
fill salted <"$W/leaves"
run '{ printf "%s", record() >>(in_ $1); close(in_ $1) }' in_="$W/salted/" "$W/leaves"
hashes_in salted >"$W/commitments"
sed 's/ / 00/' "$W/commitments" | fill leaf; hashes_in leaf >"$W/known"
for file in rows context; do run '(FILENAME == first) { is[$1] = $2; next } { print $1, is[$1], record() }' first="$W/commitments" "$W/commitments" $file.txt >"$W/$file"; done

# 2. Tree. On each level, two neighbours form a node: the SHA-256 of a byte 1 and both. A last one without a neighbour moves up
# unchanged.
level=0 n=$size
while :; do
  : >"$W/up"
  run '($1 == l) { print $2, $3 }' l=$level nodes.txt | sort -n - "$W/known" | tee "$W/level" | sed "s/^/$level /" >>"$W/nodes"
  [ "$n" -gt 1 ] || break
  run '((left != "") && ($1 != at + 1)) { lacks = 1 }
    (($1 % 2 == 0) && ($1 == n - 1)) { printf "%.0f %s\n", $1 / 2, $2 >up; next }
    ($1 % 2 == 0) { left = $2; at = $1; next }
    ((left == "") || ($1 >= n)) { lacks = 1 }
    { printf "%.0f 01%s%s\n", at / 2, left, $2; left = "" }
    END { if (lacks || (left != "")) print "wrong" >wrong }' n="$n" up="$W/up" wrong="$W/wrong" "$W/level" | fill "$level"
  [ ! -f "$W/wrong" ] || { bad "level $level of the tree has a missing or an extra node"; break; }
  hashes_in "$level" | sort -n - "$W/up" >"$W/known"
  level=$((level + 1)) n=$(((n + 1) / 2))
done
[ "$(cat "$W/level")" = "0 $(sed -n 3p checkpoint.txt | hex)" ] || bad "the leaves do not produce the root hash of the checkpoint"

# 3. Signer: KEY, or a later key. A leaf about a new key names the old one, which signed it.
if [ -n "$KEY" ]; then
  case $KEY in *+*+*) KEY=${KEY#*+} && KEY=$(printf %s "${KEY#*+}" | hex | cut -c3-) ;; esac
  is_key "$KEY" || stop "KEY: expected 64 lower-case hex characters, or NAME+HASH+KEY."
  last=$KEY keys=$KEY
  run '(plain("kind") == "key") { print plain("old"), plain("new"), plain("at"), plain("signature") }' "$W/leaves" >"$W/replaced"
  while read -r old new at signature; do
    is_key "$old" && is_key "$new" || { bad "a leaf about a new key does not name both keys"; continue; }
    printf 'carbon-mirror key\n%s\n%s\n%s\n' "$old" "$new" "$at" >"$W/text"
    made "$old" "$signature" || bad "a leaf about a new key is not signed by the old key $old"
    say "The key $old was replaced by $new at $at."
    [ "$old" != "$last" ] || last=$new; keys="$keys $old $new"
  done <"$W/replaced"
  signed checkpoint.txt "$last" && say "The checkpoint is signed by $last." || bad "the checkpoint is not signed by the key that you gave"
fi

# 4. Older checkpoint: the complete subtrees of its tree must be nodes of this one.
if [ -n "$OLDER" ]; then
  level=0 found= rest=$(size_of "$OLDER") && old=$rest || exit 2
  [ -z "$KEY" ] || signed "$OLDER" "$keys" || bad "your older checkpoint is not signed by the key that you gave"
  while [ "$rest" -gt 0 ] && [ "$old" -lt "$size" ]; do
    node=$(run '(($1 == l) && ($2 == i)) { print $3; exit }' l=$level i=$((rest - 1)) "$W/nodes")
    if [ $((rest % 2)) -eq 1 ]; then
      [ -n "$node" ] || { found= && break; }
      printf '%s\n' "both 01$node$found" | fill older
      [ -z "$found" ] && found=$node || found=$(hash_of "$W/older/both")
    fi
    rest=$((rest / 2)) level=$((level + 1))
  done
  [ "$old" != "$size" ] || found=$(sed -n 3p checkpoint.txt | hex)
  if [ -z "$found" ]; then bad "this folder has no proof for your older checkpoint of $old leaves: ask for an export with --since and that checkpoint"
  elif [ "$found" != "$(sed -n 3p "$OLDER" | hex)" ]; then bad "this log does not continue from your older checkpoint: it was rewritten, or restored from an older backup"
  else say "The log continues from your older checkpoint: its first $old leaves are the same as in the log $(sed -n 1p "$OLDER")."; fi
fi
run '(plain("kind") == "restore") { print "The log was restored from a backup at " plain("at") ": " plain("lost") " sealed leaves were lost." }
  ((plain("kind") == "forget") || (plain("kind") == "purge")) { print "Erased by " plain("kind") " at " plain("at") ": the records of " plain("leaves") " leaves." }' "$W/leaves" >"$W/told"
[ -s "$W/told" ] && say "$(cat "$W/told")" || say "No record was erased, and no backup was restored."

# 5. Documents and certificates: each file is named after its hash, which a leaf contains.
OURS='documents(/[0-9a-f]{64}\.json)?|certificates(/[0-9a-f]{64}\.pdf)?'
run '(plain("document_sha256") != "") { print plain("document_sha256"), "documents/" plain("document_sha256") ".json" }
  ((plain("resource") == "certificates") && (plain("sha256") != "")) { print plain("sha256"), "certificates/" plain("sha256") ".pdf" }' "$W/leaves" | sort -u >"$W/named"
find documents certificates 2>/dev/null | grep -vxE "$OURS" | sed 's/$/ belongs to no leaf/' | each_bad
find documents certificates -type f 2>/dev/null | grep -xE "$OURS" | xargs openssl dgst -sha256 -r 2>/dev/null | sed 's/ \*/ /; / stdin$/d' | sort >"$W/files"
comm -3 "$W/named" "$W/files" | sed 's/.* \(.*\)/\1 is missing, was changed, or belongs to no leaf/' | sort -u | each_bad

# 6. Completeness. The last leaf contains the hash of named.txt, which lists position, commitment and kind of these leaves: the
# newest one of each organization and of its coverage, and all about erasures, restores and new keys. The leaf of an organization
# contains the hash of months/POSITION.txt. Its columns: list, whose date, month, rows, rows without a usable amount, sum in
# millionths of a tonne, and a hash.
named=$(run '(($1 == last) && (plain("kind") == "complete")) { print plain("named_sha256") }' last=$((size - 1)) "$W/context")
[ "$named" = "$(hash_of named.txt)" ] || bad "named.txt does not match the last leaf of the checkpoint"
run '(plain("kind") ~ /^(organization|coverage|forget|purge|restore|key)$/) { print $1, $2, plain("kind"), plain("organization_id"), plain("months_sha256") }' "$W/context" | sort >"$W/kinds"
cut -d' ' -f1-3 "$W/kinds" >"$W/shown" && sort named.txt >"$W/all"
comm -23 "$W/shown" "$W/all" | sed 's/ .* \(.*\)/: a leaf of kind \1 that the last leaf does not list/' | each_bad
run '($3 == "organization") { print $1, $2, $5, $4 }' "$W/kinds" >"$W/organizations" && touch "$W/months"
while read -r at _ months _; do
  [ "$months" = "$(hash_of "months/$at.txt")" ] || { bad "months/$at.txt does not match leaf $at"; continue; }
  demand_form "months/$at.txt" "$group $place $place (0|-?[1-9][0-9]*) $hash"
  sed "s/^/$at /" "months/$at.txt" >>"$W/months"
done <"$W/organizations"
# Evidence of one organization, or of its retirement, contains no leaves of other organizations.
comm -13 "$W/shown" "$W/all" | run '((ENVIRON["what"] == "period") || !(($3 == "organization") || ($3 == "coverage"))) { print $1 ": a leaf of kind " $3 " is missing" }' | each_bad
run '($3 == "coverage") { known[$4] } ($3 == "organization") { here[$4] } END { for (each in here) if (!(each in known)) print "the coverage of organization " each " is missing" }' "$W/kinds" | each_bad
case $what in
  period) ;;
  organization) cut -d' ' -f4- "$W/organizations" >"$W/asked" && grep -qxF "$which" "$W/asked" || bad "the leaf of the organization is missing" ;;
  retirement) run '(plain("resource") == "retirements") { print plain("id") }' "$W/rows" >"$W/asked" && grep -qxF "$which" "$W/asked" || bad "the retirement is missing" ;;
  *) bad "WHAT.txt does not name the scope of this evidence" ;;
esac
# Each row counts in two months. others.txt has only the commitments of the other rows of these months. The hash of a month covers
# the commitments of all its rows, newest first.
run '(FILENAME == first) { of[$4] = $1; next }
  { r = plain("resource"); o = of[r == "organization" ? plain("id") : plain("organization_id")]; m = plain("amount_micro"); v = plain("version")
    if ((m !~ /^(0|-?[1-9][0-9]*)?$/) || (v !~ /^(0|[1-9][0-9]*)$/)) print "the version or the amount of row " $1 " is not a whole number" >odd
    m = (m == "") ? "none" : m
    print o, r, "mirror", substr(plain("valid_from"), 1, 7), v, $2, m
    if (value("created_at") != "") print o, r, "registry", substr(plain("created_at"), 1, 7), v, $2, m }' first="$W/organizations" odd="$W/odd" "$W/organizations" "$W/rows" >"$W/rows-of"
[ ! -f "$W/odd" ] || each_bad <"$W/odd"
mkdir "$W/group" && run '{ print $0, "other" }' others.txt | sort -k1,1n -k2,4 -k5,5nr - "$W/rows-of" |
  run '{ key = $1 " " $2 " " $3 " " $4; if (key != was) { close(in_ i); i++; was = key } print $6 >>(in_ i); print i, $0 }' in_="$W/group/" >"$W/members"
hashes_in group >"$W/hashes"
run '
  function add(v, sign) { if (sub(/^-/, "", v)) sign = -sign; hi += sign * substr(v, 1, length(v) - 6); lo += sign * substr(v, (length(v) > 6) ? length(v) - 5 : 1) }
  { what = ENVIRON["what"]; which = ENVIRON["which"] }
  (FILENAME == hashes) { hash[$1] = $2; next }
  (FILENAME != months) { key = $2 " " $3 " " $4 " " $5; group[key] = $1; row[key, ++n[key]] = $6; amount[key, n[key]] = $8; next }
  { key = $1 " " $2 " " $3 " " $4; shown = others = hi = lo = none = 0
    for (i = 1; i <= n[key]; i++) if (amount[key, i] == "other") others++; else { shown++; if (amount[key, i] == "none") none++; else add(amount[key, i], 1) }
    whole = ((n[key] == $5) && (hash[group[key]] == $8))
    asked = ((what == "organization") || ((what == "period") && (index($4, which) == 1)))
    name = $2 ($3 == "registry" ? ", dated by the registry" : ", observed by the mirror")
    for (i = 1; i <= n[key]; i++) { if (whole) stood[row[key, i]]; if (asked || (what != "period")) meant[row[key, i]] }
    if (whole && !others) { high[name] += hi; low[name] += lo; without[name] += none; add($7, -1); if ((none != $6) || (hi * 1000000 + lo != 0)) print "DOES NOT MATCH: the sum of " name " in " $4 " is wrong" }
    if (asked && !(whole && !others)) print "DOES NOT MATCH: " name " in " $4 ": " shown + 0 " of " $5 " rows, " (shown < $5 ? "some are missing" : "not the sealed ones")
    if (asked || (whole && others)) { all[name] += $5; seen[name] += shown } }
  END { for (key in n) for (i = 1; i <= n[key]; i++) { r = row[key, i]; if (amount[key, i] == "other") continue; if (!(r in stood)) { stood[r]; print "DOES NOT MATCH: row " r " is not shown to be current at this checkpoint" } else if (!(r in meant)) { meant[r]; print "DOES NOT MATCH: row " r " belongs to no month of " which } }
    for (name in all) print name ": " seen[name] " of " all[name] " sealed rows" ((seen[name] < all[name]) ? ", the others only as hashes" : ", none missing" \
      ((name ~ /^retirements/) ? sprintf("; %.0f.%06d t, %d without a usable amount", high[name] + int(low[name] / 1000000), low[name] % 1000000, without[name]) : "")) }' months="$W/months" hashes="$W/hashes" "$W/hashes" "$W/members" "$W/months" >"$W/found"
[ ! -s "$W/found" ] || say "$(sort "$W/found")" && grep -q '^DOES' "$W/found" && echo 1 >>"$W/bad"

demand_ended
[ ! -f "$W/bad" ] || { say "Something does not match: do not rely on this folder."; exit 1; }
[ -s "$W/rows" ] || stop "This folder has no sealed row of this $what, so it proves nothing."
run '(plain("kind") == "sync") { here[plain("id")] }
  ((plain("resource") == "certificates") && (plain("sha256") != "")) { r = plain("retirement_id"); if (!(r in pdf)) pdf[r] = plain("sha256") }
  (plain("sync_id") != "") { asked[plain("sync_id")] } (plain("ended_by") != "") { asked[plain("ended_by")] }
  (FILENAME != context) { at = plain("valid_from"); if ((from == "") || (at < from)) from = at; if (at > to) to = at }
  ((FILENAME != context) && (plain("resource") == "retirements")) { id[++n] = plain("id"); whom = value("beneficiary"); sub(/^null$/, "nobody", whom)
    fact[n] = plain("amount_exact") " t, " value("project_name") " " plain("vintage") ", for " whom ", dated " plain("created_at") }
  END { if (to != "") print "These versions of the rows were observed from " from " to " to "."
    for (sync in asked) { syncs++; if (sync in here) shown++ }
    print "This folder has " shown + 0 " of the " syncs + 0 " syncs that observed them" ((shown < syncs) ? "; the others were deleted after retention, or omitted." : ".")
    for (i = 1; i <= n; i++) { if (!(id[i] in pdf) && (++lacking <= 10)) without = without " " id[i]
      if (ENVIRON["what"] == "retirement") print "Retirement " id[i] ": " fact[i] ", PDF " ((id[i] in pdf) ? "sha256 " pdf[id[i]] : "missing") "." }
    if (n) print n - lacking " of " n " retirements have a PDF here." (lacking ? " Omitted, or never created:" without ((lacking > 10) ? " and more." : ".") : "") }' context="$W/context" "$W/rows" "$W/context" >"$W/about"
say "$(cat "$W/about")"
say "$(wc -l <"$W/rows") rows and $(wc -l <"$W/context") other leaves match the checkpoint. Read rows.txt: page.html is not checked."
if [ -z "$OLDER" ]; then say "You gave no older checkpoint: whoever has the key can have created all of this today."
else say "$(run '($1 < old)' old="$old" "$W/rows" | wc -l) of the rows were in the log when your older checkpoint was signed; the time of later rows is known only from the signature."; fi
demand_ended
[ -n "$KEY" ] || { say "The folder is consistent, but you gave no KEY, so the signature was not checked."; exit 3; }
