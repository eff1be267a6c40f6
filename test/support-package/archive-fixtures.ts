/** Archives in a line: `archive(file('a.log', 'text'), link('b', 'a.log'))`. */
import {execFileSync} from 'node:child_process'
import {mkdtempSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {gunzipSync, gzipSync} from 'node:zlib'
import {Header} from 'tar'

export const MTIME = new Date('2026-03-04T05:06:07Z')

interface HeaderFields {
  readonly path?: string
  readonly type?: ConstructorParameters<typeof Header>[0] extends infer T ? (T extends {type?: infer U} ? U : never) : never
  readonly linkpath?: string
  readonly mode?: number
  readonly size?: number
}

/** One member: header, content, padding. */
export function member(fields: HeaderFields, content: Buffer = Buffer.alloc(0)): Buffer {
  const block = Buffer.alloc(512)
  new Header({
    mode: 0o640,
    uid: 1001,
    gid: 1002,
    mtime: MTIME,
    size: content.length,
    uname: 'someone',
    gname: 'group',
    ...fields,
  } as never).encode(block)
  return Buffer.concat([block, content, Buffer.alloc((512 - (content.length % 512)) % 512)])
}

export const file = (path: string, content: string | Buffer = '', mode = 0o640): Buffer =>
  member({path, type: 'File', mode}, Buffer.from(content))
export const folder = (path: string): Buffer => member({path, type: 'Directory'})
export const symlink = (path: string, linkpath: string): Buffer => member({path, linkpath, type: 'SymbolicLink'})
export const hardlink = (path: string, linkpath: string): Buffer => member({path, linkpath, type: 'Link'})
export const device = (path: string): Buffer => member({path, type: 'CharacterDevice'})

/** `<length> <key>=<value>\n`, where the length counts itself. */
export function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + 1
  while (rest + String(length).length !== length) length = rest + String(length).length
  return Buffer.from(`${length} ${key}=${value}\n`)
}

/** pax records before the member that follows (or, as global, before all that follow). */
export const pax = (records: Readonly<Record<string, string>>, global = false): Buffer =>
  member(
    {path: 'PaxHeaders/x', type: global ? 'GlobalExtendedHeader' : 'ExtendedHeader'},
    Buffer.concat(Object.entries(records).map(([key, value]) => paxRecord(key, value))),
  )

export const longName = (path: string): Buffer => member({path: '././@LongLink', type: 'NextFileHasLongPath'}, Buffer.from(`${path}\0`))

export const END = Buffer.alloc(1024)

export const archive = (...members: readonly Buffer[]): Buffer => gzipSync(Buffer.concat([...members, END]))

export async function* pieces(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

export const lines = (count: number, from = 1): string => Array.from({length: count}, (_, at) => `line ${at + from}\n`).join('')

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'svcctl-package-'))

/** What the system's own tar makes of it. */
export function listWithTar(bytes: Buffer): string[] {
  return tarCommand(bytes, '-tzf').toString().split('\n').filter(Boolean)
}

export const contentWithTar = (bytes: Buffer, path: string): Buffer => tarCommand(bytes, '-xzOf', path)

function tarCommand(bytes: Buffer, action: string, ...paths: string[]): Buffer {
  const at = join(temporaryFolder(), 'a.tar.gz')
  writeFileSync(at, bytes)
  return execFileSync('tar', [action, at, ...paths], {maxBuffer: 2 ** 28})
}

/** The tar inside, to compare headers byte by byte. */
export const inside = (bytes: Uint8Array): Buffer => gunzipSync(bytes)
