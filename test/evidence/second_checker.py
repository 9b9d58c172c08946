"""Checks evidence folders. Written from docs/evidence-format.md alone, so that the page is known to be enough for that.

Usage: python3 second_checker.py KEY OLDER-CHECKPOINT FOLDER...  (OLDER-CHECKPOINT may be "-")
Prints a line for each folder: "verified", or "not verified: " and why.
"""
import base64
import hashlib
import json
import os
import re
import sys

HASH = re.compile(r'[0-9a-f]{64}\Z')
MONTH = re.compile(r'[0-9]{4}-(0[1-9]|1[0-2])\Z')
INSTANT = re.compile(r'[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z\Z')
MICRO = re.compile(r'(0|-?[1-9][0-9]*)\Z')
NAMED_KINDS = ('organization', 'coverage', 'forget', 'purge', 'restore', 'key')
OTHER_KINDS = ('change', 'sync', 'unchanged', 'open_span', 'complete')


class Fault(Exception):
    pass


def need(condition, message):
    if not condition:
        raise Fault(message)


def sha256(*parts):
    return hashlib.sha256(b''.join(parts)).digest()


# Canonical JSON


def format_number(value):
    """Writes a float as JavaScript does."""
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    mantissa, _, exponent = repr(value).partition('e')
    digits = mantissa.replace('.', '').replace('-', '').lstrip('0')
    point = int(exponent or 0) + len(mantissa.lstrip('-').partition('.')[0])
    if mantissa.lstrip('-').startswith('0.'):
        fraction = mantissa.partition('.')[2]
        point = int(exponent or 0) - (len(fraction) - len(fraction.lstrip('0')))
    digits = digits.rstrip('0')
    sign = '-' if value < 0 else ''
    if -6 < point <= 0:
        return sign + '0.' + '0' * -point + digits
    if 0 < point < len(digits):
        return sign + digits[:point] + '.' + digits[point:]
    power = point - 1
    rest = '.' + digits[1:] if len(digits) > 1 else ''
    return '%s%s%se%s%d' % (sign, digits[0], rest, '+' if power > 0 else '-', abs(power))


def format_json(value):
    if isinstance(value, dict):
        return '{' + ','.join('%s:%s' % (format_json(name), format_json(value[name])) for name in sorted(value)) + '}'
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return re.sub('[\ud800-\udfff]', lambda found: '\\u%04x' % ord(found.group()), text)
    return format_number(value) if isinstance(value, float) else str(value)


def parse_line(line):
    try:
        value = json.loads(line, parse_constant=lambda _: None)
    except ValueError:
        raise Fault('a line is not JSON')
    need(isinstance(value, dict), 'a line is not an object')
    for name, field in value.items():
        inner = field.values() if name == 'record' and isinstance(field, dict) else [field]
        need(all(type(each) in (str, int, float) for each in inner), 'a value of no allowed type')
        names = [name] + (list(field) if name == 'record' and isinstance(field, dict) else [])
        need(all(re.match(r'[a-z][a-z0-9_]*\Z', each) for each in names), 'a malformed name')
    need(format_json(value) == line, 'a line is not canonical')
    return value


# Ed25519 (RFC 8032)

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)


def recover_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_1 % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    return P - x if x % 2 != sign else x


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)


def add(one, other):
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(factor, point):
    product = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            product = add(product, point)
        point = add(point, point)
        factor >>= 1
    return product


def decode_point(data):
    number = int.from_bytes(data, 'little')
    y, sign = number & (2**255 - 1), number >> 255
    x = recover_x(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


def is_signed(key, text, signature):
    point, r = decode_point(key), decode_point(signature[:32])
    s = int.from_bytes(signature[32:], 'little')
    if len(signature) != 64 or point is None or r is None or s >= L:
        return False
    digest = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), 'little') % L
    one, other = multiply(s, BASE), add(r, multiply(digest, point))
    return (one[0] * other[2] - other[0] * one[2]) % P == 0 and (one[1] * other[2] - other[1] * one[2]) % P == 0


# 1. Checkpoint and key


def decode_base64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Fault('malformed base64')
    need(base64.b64encode(data).decode() == text, 'base64 is not canonical')
    return data


def key_id(name, key):
    return sha256(name.encode(), b'\n', b'\x01', key)[:4]


def parse_checkpoint(note):
    text, _, signatures = note.partition('\n\n')
    lines, signed = (text + '\n').split('\n')[:-1], signatures.split('\n')
    need(len(lines) == 4 and signed.pop() == '' and signed and len(set(signed)) == len(signed), 'malformed checkpoint')
    origin, size, root, instant = lines
    need(re.match(r'[1-9][0-9]{0,14}\Z', size) and INSTANT.match(instant), 'malformed checkpoint')
    matches = [re.match('— ([^\\s+]+) ([A-Za-z0-9+/=]+)\\Z', line) for line in signed]
    need(all(matches), 'malformed signature line')
    root = decode_base64(root)
    need(len(root) == 32, 'malformed root')
    signers = [(match.group(1), decode_base64(match.group(2))) for match in matches]
    return {'origin': origin, 'size': int(size), 'root': root, 'instant': instant, 'text': text + '\n', 'signers': signers}


def find_signer(checkpoint, keys, name):
    for signer, data in checkpoint['signers']:
        is_own = name in (None, signer) and (checkpoint['origin'] + '/').startswith(signer + '/')
        for key in keys:
            if is_own and len(data) == 68 and data[:4] == key_id(signer, key):
                if is_signed(key, checkpoint['text'].encode(), data[4:]):
                    return signer
    return None


def parse_key(text):
    if HASH.match(text):
        return None, bytes.fromhex(text)
    name, number, data = text.split('+', 2)
    data = decode_base64(data)
    need(len(data) == 33 and data[0] == 1 and key_id(name, data[1:]).hex() == number, 'malformed key')
    return name, data[1:]


# Lines

COUNT, TEXT, RECORD = 'count', 'text', 'record'
KINDS = [
    ('format', {'format': COUNT, 'scope': TEXT, 'value': TEXT}, {'since': COUNT}, []),
    ('row', {'row': COUNT, 'record': RECORD, 'salt': HASH}, {}, ['row']),
    ('leaf', {'leaf': COUNT, 'record': RECORD, 'salt': HASH}, {}, ['leaf']),
    ('hidden', {'hidden': COUNT, 'list': TEXT, 'month': MONTH, 'version': COUNT, 'commitment': HASH}, {},
     ['hidden', 'list', 'month', 'version']),
    ('months_of', {'months_of': COUNT, 'list': TEXT, 'dated_by': TEXT, 'month': MONTH, 'rows': COUNT,
                   'without_amount': COUNT, 'micro': MICRO, 'commitments': HASH}, {},
     ['months_of', 'list', 'dated_by', 'month']),
    ('reads_of', {'reads_of': COUNT, 'list': TEXT, 'failed_since': COUNT}, {'read_at': INSTANT, 'read_leaf': COUNT},
     ['reads_of', 'list']),
    ('named_by', {'named_by': COUNT, 'named': COUNT, 'kind': TEXT, 'commitment': HASH}, {}, ['named_by', 'named']),
    ('level', {'level': COUNT, 'index': COUNT, 'hash': HASH}, {}, ['level', 'index']),
    ('document', {'document': TEXT}, {}, None),
]


def has_form(value, form):
    if form == COUNT:
        return type(value) is int and 0 <= value < 10**15
    if form == RECORD:
        return isinstance(value, dict)
    return isinstance(value, str) and (form == TEXT or bool(form.match(value)))


def read_lines(data):
    text = data.decode('utf-8')
    need(text.endswith('\n'), 'no newline at the end')
    found = {name: [] for name, _, _, _ in KINDS}
    previous = (-1,)
    for line in text[:-1].split('\n'):
        fields = parse_line(line)
        rank = next((rank for rank, kind in enumerate(KINDS) if kind[0] in fields), None)
        need(rank is not None, 'a line of no known kind')
        name, required, optional, keys = KINDS[rank]
        need(set(required) <= set(fields) <= set(required) | set(optional), 'other fields of ' + name)
        need(all(has_form(fields[each], {**required, **optional}[each]) for each in fields), 'malformed ' + name)
        key = [sha256(fields[name].encode('utf-8', 'surrogatepass')).hex()] if keys is None else [fields[each] for each in keys]
        need(previous < (rank, *key), 'lines are out of order')
        previous = (rank, *key)
        fields['_line'] = line
        found[name].append(fields)
    need(len(found['format']) == 1 and found['format'][0]['format'] == 2, 'no header')
    return found


def sealed_hash(lines, owner):
    """Hashes lines without the field that says to which leaf they belong."""
    texts = [format_json({name: line[name] for name in line if name not in (owner, '_line')}) for line in lines]
    return sha256(''.join(text + '\n' for text in texts).encode()).hex()


# The steps of the page


def check_folder(folder, key_text, older_text):
    files = {}
    for place, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(place, name)
            need(not os.path.islink(path) and (os.path.isdir(path) or os.path.isfile(path)), name + ' is no plain file')
            if os.path.isfile(path):
                files[os.path.relpath(path, folder)] = path
    read = lambda name: open(files[name], 'rb').read() if name in files else need(False, name + ' is missing')
    checkpoint = parse_checkpoint(read('checkpoint.txt').decode())
    size, instant = checkpoint['size'], checkpoint['instant']
    lines = read_lines(read('evidence.jsonl'))
    header = lines['format'][0]
    scope, value, since = header['scope'], header['value'], header.get('since')
    need(scope in ('period', 'organization', 'retirement') and since != 0, 'malformed header')
    need(scope != 'period' or re.match(r'[0-9]{4}(-(0[1-9]|1[0-2]))?\Z', value), 'malformed period')

    # 2. Leaves
    leaves = {}
    for name in ('row', 'leaf'):
        for line in lines[name]:
            place, record = line[name], line['record']
            need(place < size and place not in leaves, 'a place outside the log, or twice')
            commitment = sha256(bytes.fromhex(line['salt']), format_json(record).encode())
            leaves[place] = {'place': place, 'record': record, 'commitment': commitment, 'is_row': name == 'row'}
    of_kind = lambda kind: [leaf for place, leaf in sorted(leaves.items()) if leaf['record'].get('kind') == kind]

    # 3. Tree
    known = {place: sha256(b'\x00', leaf['commitment']) for place, leaf in leaves.items()}
    levels, count = [], size
    for level in range(51):
        for line in lines['level']:
            if line['level'] == level:
                need(line['index'] < count and line['index'] not in known, 'a superfluous node')
                known[line['index']] = bytes.fromhex(line['hash'])
        levels.append(known)
        if count == 1:
            break
        parents = {}
        for index, node in known.items():
            if index % 2 == 0 and index == count - 1:
                parents[index // 2] = node
                continue
            need(index ^ 1 in known, 'a node is missing')
            if index % 2 == 0:
                parents[index // 2] = sha256(b'\x01', node, known[index + 1])
        known, count = parents, (count + 1) // 2
    need(all(line['level'] < len(levels) for line in lines['level']), 'a node above the root')
    need(levels[-1].get(0) == checkpoint['root'], 'another root')

    # 4. Signer
    name, current = parse_key(key_text)
    trusted = {current}
    for leaf in of_kind('key'):
        old, new, at, signature = (str(leaf['record'].get(each)) for each in ('old', 'new', 'at', 'signature'))
        text = ''.join(each + '\n' for each in ('carbon-mirror key', old, new, at)).encode()
        is_change = HASH.match(old) and HASH.match(new) and is_signed(bytes.fromhex(old), text, decode_base64(signature))
        if is_change and current.hex() in (old, new):
            trusted |= {bytes.fromhex(old), bytes.fromhex(new)}
            current = bytes.fromhex(new)
    log_name = find_signer(checkpoint, [current], name)
    need(log_name is not None, 'not signed by the key')

    # 5. Older checkpoint
    if older_text:
        older = parse_checkpoint(older_text)
        need(find_signer(older, trusted, log_name), 'the older checkpoint is not signed by the key')
        need(older['size'] == since and older['instant'] <= instant, 'the older checkpoint does not fit')
        root = checkpoint['root'] if since == size else None
        for level in range(0 if root is None else 60, 60):
            if since >> level & 1:
                node = levels[level].get((since >> level) - 1)
                need(node is not None, 'no proof for the older checkpoint')
                root = node if root is None else sha256(b'\x01', node, root)
        need(root == older['root'], 'the log does not continue from the older checkpoint')
        renamed = [leaf for leaf in of_kind('restore') if leaf['record'].get('origin') == checkpoint['origin']]
        need(older['origin'] == checkpoint['origin'] or renamed, 'another log')

    # 6. Documents and certificates
    records = [leaf['record'] for leaf in leaves.values()]
    documents = {sha256(line['document'].encode('utf-8', 'surrogatepass')).hex() for line in lines['document']}
    need(documents == {record['document_sha256'] for record in records if 'document_sha256' in record}, 'other documents')
    pdfs = {'certificates/%s.pdf' % record['sha256'] for record in records
            if record.get('resource') == 'certificates' and 'sha256' in record}
    need(pdfs == {path for path in files if path.lower().startswith('certificates/')}, 'other certificates')
    for path in pdfs:
        need(sha256(read(path)).hex() == path[13:-4], 'a certificate was changed')

    # 7. Names
    def read_names(last):
        names = [line for line in lines['named_by'] if line['named_by'] == last]
        record = leaves[last]['record']
        need(record.get('kind') == 'complete' and record.get('named_sha256') == sealed_hash(names, 'named_by'), 'other names')
        for line in names:
            leaf = leaves.get(line['named'])
            if leaf:
                is_same = leaf['commitment'].hex() == line['commitment'] and leaf['record'].get('kind') == line['kind']
                need(is_same, 'a leaf is not as it is named')
        return names

    need(size - 1 in leaves, 'the last leaf is missing')
    names = read_names(size - 1)
    need(leaves[size - 1]['record'].get('sealed_at') == instant, 'another instant')
    older_names = read_names(since - 1) if since and since - 1 in leaves else []
    for line in names:
        may_miss = scope != 'period' and line['kind'] in ('organization', 'coverage')
        need(may_miss or line['named'] in leaves, 'a leaf is missing')
    named, older_named = {line['named'] for line in names}, {line['named'] for line in older_names}
    for leaf in leaves.values():
        kind = leaf['record'].get('kind')
        need(kind in NAMED_KINDS + OTHER_KINDS, 'an unknown kind')
        need(kind not in NAMED_KINDS or leaf['place'] in (named | older_named if kind == 'organization' else named), 'a stray leaf')
        need(kind != 'complete' or leaf['place'] + 1 in (size, since), 'a stray last leaf')
    need(all(line['named_by'] + 1 in (size, since) for line in lines['named_by']), 'stray names')
    organizations = {leaf['record']['organization_id']: leaf for leaf in of_kind('organization') if leaf['place'] in named}
    covered = {leaf['record'].get('organization_id') for leaf in of_kind('coverage')}
    need(set(organizations) <= covered, 'a coverage is missing')
    need(scope != 'organization' or set(organizations) == {value}, 'another organization')

    # 8. Months
    def owner_of(record):
        return record.get('id' if record.get('resource') == 'organization' else 'organization_id')

    def months_of(place, organization, rows, hidden):
        months = [line for line in lines['months_of'] if line['months_of'] == place]
        need(leaves[place]['record'].get('months_sha256') == sealed_hash(months, 'months_of'), 'other months')
        for month in months:
            field = {'mirror': 'valid_from', 'registry': 'created_at'}[month['dated_by']]
            members = [leaf for leaf in rows if owner_of(leaf['record']) == organization
                       and leaf['record']['resource'] == month['list']
                       and str(leaf['record'].get(field, '')).startswith(month['month'])]
            others = [line for line in hidden if month['dated_by'] == 'mirror' and line['hidden'] == place
                      and (line['list'], line['month']) == (month['list'], month['month'])]
            parts = [(leaf['record']['version'], leaf['commitment'].hex()) for leaf in members]
            parts += [(line['version'], line['commitment']) for line in others]
            text = ''.join(commitment + '\n' for _, commitment in sorted(parts, reverse=True))
            proven = len(parts) == month['rows'] and sha256(text.encode()).hex() == month['commitments']
            amounts = [leaf['record']['amount_micro'] for leaf in members if 'amount_micro' in leaf['record']]
            if proven and not others:
                is_sum = sum(amounts) == int(month['micro']) and len(members) - len(amounts) == month['without_amount']
                need(is_sum, 'another sum')
            yield month, members, others, proven

    is_asked = lambda month: scope == 'organization' or (scope == 'period' and month['month'].startswith(value))
    versions = [leaf for leaf in of_kind('change') if 'valid_from' in leaf['record']]
    need(all(leaf in versions for leaf in leaves.values() if leaf['is_row']), 'a row that is none')
    rows = [leaf for leaf in versions if leaf['is_row']]
    standing, proven_hidden, owners = set(), 0, {leaf['place'] for leaf in organizations.values()}
    for organization, leaf in organizations.items():
        for month, members, others, proven in months_of(leaf['place'], organization, rows, lines['hidden']):
            need(not is_asked(month) or (proven and not others), 'a month is not complete')
            if proven and (is_asked(month) or scope == 'retirement'):
                standing |= {member['place'] for member in members}
            proven_hidden += len(others) if proven else 0
    need(rows and all(row['place'] in standing for row in rows), 'a row is not shown to be current')
    need(proven_hidden == len(lines['hidden']) and (scope == 'retirement' or not lines['hidden']), 'stray hidden rows')
    if scope == 'retirement':
        ids = [row['record'].get('id') for row in rows if row['record']['resource'] == 'retirements']
        others = [row for row in rows if row['record']['resource'] != 'retirements']
        need(ids == [value] and all(row['record'].get('retirement_id') == value for row in others), 'another retirement')

    # 9. Reads
    for leaf in organizations.values():
        reads = [line for line in lines['reads_of'] if line['reads_of'] == leaf['place']]
        need(leaf['record'].get('reads_sha256') == sealed_hash(reads, 'reads_of'), 'other reads')
    need(all(line['reads_of'] in owners for line in lines['reads_of']), 'stray reads')

    # 10. Instants
    for record in records:
        for field in ('valid_from', 'ended_at', 'last_answer_at', 'finished_at', 'last_finished_at', 'at'):
            need(field not in record or (INSTANT.match(str(record[field])) and record[field] <= instant), 'a later instant')

    # 11. Older counts
    older_places = {line['named'] for line in older_names if line['kind'] == 'organization'} & set(leaves)
    need(all(line['months_of'] in owners | older_places for line in lines['months_of']), 'stray months')
    if since and scope != 'retirement':
        erased = [leaf for kind in ('forget', 'purge') for leaf in of_kind(kind)
                  if leaf['place'] >= since and leaf['record'].get('leaves', 0) > 0]
        ended = {leaf['record'].get('ended_version') for leaf in of_kind('change') if leaf['place'] < since}
        then = [leaf for leaf in versions if leaf['place'] < since and leaf['record']['version'] not in ended]
        missing = since - 1 not in leaves
        missing |= scope == 'period' and any(line['kind'] == 'organization' and line['named'] not in leaves for line in older_names)
        older_owners = {leaves[place]['record']['organization_id']: place for place in older_places}
        missing |= any(owner_of(leaf['record']) not in older_owners for leaf in then)
        later = {leaf['record'].get('ended_version') for leaf in of_kind('change') if leaf['place'] >= since}
        for organization, place in older_owners.items():
            for month, members, _, proven in months_of(place, organization, then, []):
                missing |= is_asked(month) and not proven
                for leaf in members if is_asked(month) and proven else []:
                    need(leaf['is_row'] or leaf['record']['version'] in later, 'a row ended unnoticed')
        need(not missing or erased, 'older counts are missing')


def main(key, older, *folders):
    older_text = '' if older == '-' else open(older).read()
    for folder in folders:
        try:
            check_folder(folder, key, older_text)
            print('verified')
        except (Fault, KeyError, TypeError, ValueError, IndexError) as fault:
            print('not verified: %s' % (fault or type(fault).__name__))


main(*sys.argv[1:])
