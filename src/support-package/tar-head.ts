/** Headers of a member as they go out again: the same bytes, but for the size where the content became shorter. */
import {Pax} from 'tar/pax'
import {parsePax} from './pax.ts'
import {BLOCK, type HeaderPart, paddingOf, type TarMember} from './tar-members.ts'

const SIZE_AT = 124
const SIZE_LENGTH = 12
const CHECKSUM_AT = 148
const CHECKSUM_LENGTH = 8

/** Extended headers that hold for this member and all that follow. */
export const globalsOf = ({extensions}: TarMember): Buffer =>
  Buffer.concat(extensions.flatMap(part => (part.type === 'g' ? globalRecords(part) : [])))

/** @param size - bytes of content that will follow */
export function headOf(member: TarMember, size: number): Buffer {
  const {extensions, header, sparseBlocks} = member
  const parts = extensions.flatMap(part => {
    if (part.type === 'g') return []
    return size !== member.size && (part.type === 'x' || part.type === 'X')
      ? [withSizeRecord(part, size)]
      : [whole(part.block, part.content)]
  })
  // A size beyond the field's digits stands in a pax record, and the field is whatever the writer put there.
  const same = size === member.size && !isEmptied(member)
  return Buffer.concat([...parts, same ? header : withSize(header, size), sparseBlocks])
}

/** Links and folders with a size that nobody may believe. */
const isEmptied = ({size, header}: TarMember): boolean =>
  size === 0 && header.subarray(SIZE_AT, SIZE_AT + SIZE_LENGTH).some(byte => byte !== 0x30 && byte !== 0 && byte !== 0x20)

function withSizeRecord(part: HeaderPart, size: number): Buffer {
  const records = parsePax(part.content) ?? []
  const content = Buffer.concat(records.map(({key, raw}) => (key === 'size' ? Buffer.from(new Pax({size}).encodeBody()) : raw)))
  return whole(withSize(part.block, content.length), content)
}

/** Records for all members that follow may be kept, but for names, sizes and maps of holes: those would be everybody's. */
function globalRecords(part: HeaderPart): Buffer[] {
  const all = parsePax(part.content) ?? []
  const records = all.filter(({key}) => !['path', 'linkpath', 'size'].includes(key) && !key.startsWith('GNU.sparse.'))
  if (records.length === all.length) return [whole(part.block, part.content)]
  if (records.length === 0) return []
  const content = Buffer.concat(records.map(({raw}) => raw))
  return [whole(withSize(part.block, content.length), content)]
}

const whole = (block: Buffer, content: Buffer): Buffer => Buffer.concat([block, content, Buffer.alloc(paddingOf(content.length))])

/** @throws RangeError for a size that 11 octal digits cannot hold: content never grows, so it does not happen */
function withSize(block: Buffer, size: number): Buffer {
  const copy = Buffer.from(block)
  const digits = size.toString(8)
  if (digits.length > SIZE_LENGTH - 1) throw new RangeError(`${size} bytes do not fit into a header`)
  copy.write(`${digits.padStart(SIZE_LENGTH - 1, '0')}\0`, SIZE_AT, SIZE_LENGTH, 'latin1')
  copy.fill(0x20, CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_LENGTH)
  let sum = 0
  for (let at = 0; at < BLOCK; at++) sum += copy[at] ?? 0
  copy.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM_AT, CHECKSUM_LENGTH, 'latin1')
  return copy
}
