/**
 * What the `tar` library reads as we do, and each thing it cannot do for which we have code of our own (the table in
 * src/README.md). A line here that fails after an update of the library says that some of that code may go.
 */
import fc from 'fast-check'
import {Header, Parser, Pax} from 'tar'
import {describe, expect, it} from 'vitest'
import {ByteReader} from '../../src/support-package/byte-reader.ts'
import {ARCHIVE_LIMITS} from '../../src/support-package/gunzip.ts'
import {globalsOf, headOf} from '../../src/support-package/tar-head.ts'
import {tarMembers} from '../../src/support-package/tar-members.ts'
import {END, file, folder, hardlink, longName, member, pax, paxRecord, pieces, symlink} from './archive-fixtures.ts'

interface Seen {
  readonly path: string
  readonly type: string
  readonly content: string
}

/** As the library reads it. */
async function byLibrary(bytes: Buffer): Promise<{seen: Seen[]; warnings: string[]; sawEnd: boolean}> {
  const seen: Seen[] = []
  const warnings: string[] = []
  let sawEnd = false
  await new Promise<void>(resolve => {
    const parser = new Parser({
      onwarn: (code, message) => void warnings.push(`${code}: ${message}`),
      onReadEntry: entry => {
        const parts: Buffer[] = []
        entry.on('data', part => parts.push(part))
        entry.on('end', () => {
          seen.push({path: entry.path, type: entry.header.typeKey, content: Buffer.concat(parts).toString('latin1')})
        })
      },
    })
    parser.on('eof', () => {
      sawEnd = true
    })
    parser.on('end', resolve)
    parser.write(bytes)
    parser.end()
  })
  return {seen, warnings, sawEnd}
}

async function byUs(bytes: Buffer): Promise<{seen: Seen[]; again: Buffer}> {
  const seen: Seen[] = []
  const again: Buffer[] = []
  const reader = new ByteReader(pieces(bytes) as AsyncIterable<Buffer>)
  for await (const one of tarMembers(reader, 'the package', ARCHIVE_LIMITS)) {
    again.push(globalsOf(one), headOf(one, one.size))
    const parts: Buffer[] = []
    for await (const part of one.body()) parts.push(Buffer.from(part))
    seen.push({path: one.path, type: one.type, content: Buffer.concat(parts).toString('latin1')})
    again.push(...parts, Buffer.alloc((512 - (one.size % 512)) % 512))
  }
  return {seen, again: Buffer.concat([...again, END])}
}

const NAME = fc.stringMatching(/^[a-zé]{1,60}(\/[a-z]{1,90}){0,2}$/)

const ANY_MEMBER = fc.oneof(
  fc.tuple(NAME, fc.string({maxLength: 700})).map(([name, text]) => file(name, text)),
  NAME.map(name => folder(`${name}/`)),
  fc.tuple(NAME, NAME).map(([name, to]) => symlink(name, to)),
  fc.tuple(NAME, NAME).map(([name, to]) => hardlink(name, to)),
  fc.tuple(NAME, fc.string({maxLength: 20})).map(([name, text]) => Buffer.concat([pax({path: name}), file('short', text)])),
  fc.tuple(NAME, fc.string({maxLength: 20})).map(([name, text]) => Buffer.concat([longName(name), file('short', text)])),
)

describe('members', () => {
  it('are read as the tar library reads them, and written again byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ANY_MEMBER, {minLength: 1, maxLength: 8}), async members => {
        const bytes = Buffer.concat([...members, END])
        const [ours, library] = [await byUs(bytes), await byLibrary(bytes)]
        expect(library.warnings).toEqual([])
        expect(ours.seen).toEqual(library.seen)
        expect(ours.again.equals(bytes)).toBe(true)
      }),
    )
  })

  it('have a pax record of their size that the library writes', () => {
    for (const size of [0, 9, 99, 999_999_999, 8 ** 11])
      expect(new Pax({size}).encodeBody()).toBe(paxRecord('size', String(size)).toString())
  })
})

describe('the tar library', () => {
  it('does not write a header of GNU tar again as it was', () => {
    const block = Buffer.from(file('a', 'text').subarray(0, 512))
    block.write('0000640\0', 100, 8, 'latin1')
    block.write('ustar  \0', 257, 8, 'latin1')
    block.write(checksumOf(block), 148, 8, 'latin1')
    const again = Buffer.alloc(512)
    new Header(block).encode(again)
    expect(again.equals(block)).toBe(false)
  })

  it('does not keep the pax records it does not know, nor values with a line break', () => {
    const body = Buffer.concat([paxRecord('SCHILY.xattr.user.a', 'b'), paxRecord('path', 'one\ntwo'), paxRecord('mtime', '1.123456789')])
    const parsed = Pax.parse(body.toString())
    expect(parsed.path).not.toBe('one\ntwo')
    expect(parsed.encodeBody()).not.toContain('SCHILY.xattr.user.a')
    expect(parsed.encodeBody()).not.toContain('1.123456789')
  })

  it('does not refuse pax records that are none', () => {
    expect(Pax.parse('no record at all').path).toBeUndefined()
  })

  it('does not miss the end mark of an archive that was cut between two members', async () => {
    const {warnings, sawEnd, seen} = await byLibrary(file('a', 'text'))
    expect([seen.length, warnings, sawEnd]).toEqual([1, [], false])
  })

  it('does not hand out the blocks of a header, nor members of types it does not unpack', async () => {
    const bytes = Buffer.concat([member({path: 'sparse', type: 'SparseFile'}, Buffer.from('x')), file('b', 'y'), END])
    expect((await byLibrary(bytes)).seen.map(it => it.path)).toEqual(['b'])
    expect((await byUs(bytes)).seen.map(it => it.path)).toEqual(['sparse', 'b'])
  })

  it('takes the map of an old sparse file for headers', async () => {
    const head = Buffer.from(member({path: 'holes', type: 'SparseFile', size: 0}).subarray(0, 512))
    head[482] = 1
    head.write(checksumOf(head), 148, 8, 'latin1')
    const map = Buffer.alloc(512)
    map.write('00000000000\0', 0, 12, 'latin1')
    const bytes = Buffer.concat([head, map, file('after', 'z'), END])
    expect((await byLibrary(bytes)).warnings).toEqual([expect.stringContaining('checksum failure')])
    expect((await byUs(bytes)).again.equals(bytes)).toBe(true)
  })

  it('does not tell that two headers give a member different names', async () => {
    const {seen, warnings} = await byLibrary(Buffer.concat([pax({path: 'one'}), longName('two'), file('three', 'x'), END]))
    expect([seen.length, warnings]).toEqual([1, []])
  })
})

/** Of a header block, its own field taken as spaces. */
function checksumOf(block: Buffer): string {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  return `${sum.toString(8).padStart(6, '0')}\0 `
}
