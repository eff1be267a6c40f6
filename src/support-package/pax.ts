/** Extended headers of a tar (POSIX pax): records `<length> <key>=<value>\n`, the length counting itself. */

export interface PaxRecord {
  readonly key: string
  readonly value: Buffer
  /** The whole record as it stands in the archive. */
  readonly raw: Buffer
}

/** Of one header. Real ones have a dozen, and two for each hole of an old sparse file; one of 1 MiB takes 260 000 that say nothing. */
const MOST_RECORDS = 10_000

/** @returns `undefined` when the bytes are no list of records, or a longer one than programs write */
export function parsePax(body: Buffer): readonly PaxRecord[] | undefined {
  const records: PaxRecord[] = []
  for (let at = 0; at < body.length; ) {
    // Some writers fill the last block with zeros inside the stated size.
    if (body.subarray(at).every(byte => byte === 0)) break
    const space = body.indexOf(0x20, at)
    const digits = space < 0 ? '' : body.toString('latin1', at, space)
    if (!/^\d{1,9}$/.test(digits)) return undefined
    const end = at + Number(digits)
    const equals = body.indexOf(0x3d, space)
    if (records.length >= MOST_RECORDS) return undefined
    if (end > body.length || equals < 0 || equals >= end || body[end - 1] !== 0x0a) return undefined
    records.push({key: body.toString('utf8', space + 1, equals), value: body.subarray(equals + 1, end - 1), raw: body.subarray(at, end)})
    at = end
  }
  return records
}
