/**
 * `svcctl` for shells: a program of this name that hands its words, folder, environment and input to this process, where
 * the command is called, and gives back what came of it. For lines of documents and pipelines that are run as they stand:
 * the shell is a real one, and nothing about the process of svcctl is looked at.
 */
import {chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {createServer, type Socket} from 'node:net'
import {join} from 'node:path'
import {callProgram} from './program.ts'

export interface ServedProgram {
  /** What the program lies in: goes to the front of a PATH. */
  readonly bin: string
  close(): Promise<void>
}

/**
 * @param folder - gets `bin`
 * @param first - of the shell program: what it does before it asks
 */
export async function serveProgram(folder: string, first = ''): Promise<ServedProgram> {
  const [bin, between] = [join(folder, 'bin'), join(folder, 'served')]
  for (const it of [bin, between]) mkdirSync(it, {recursive: true})
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens at no port')
  const program = join(bin, 'svcctl')
  writeFileSync(program, shellProgram(address.port, between, first))
  chmodSync(program, 0o755)
  return {bin, close: () => new Promise(resolve => server.close(() => resolve()))}
}

/** Words and variables end with a NUL; after the last variable stands one more. */
const shellProgram = (port: number, between: string, first: string): string => `#!/usr/bin/env bash
${first}
own='${between}'/$$
if [ -p /dev/stdin ] || [ -f /dev/stdin ]; then cat > "$own.in"; fi
exec 3<>/dev/tcp/127.0.0.1/${port}
{ printf '%s\\0' "$own" "$PWD" "$#" "$@"; env -0; printf '\\0'; } >&3
read -r code <&3
cat "$own.out"
cat "$own.err" >&2
exit "$code"
`

interface Request {
  readonly own: string
  readonly cwd: string
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** @returns `undefined` while some of it is still to come */
function requestIn(text: string): Request | undefined {
  const [own = '', cwd = '', count = '', ...rest] = text.split('\0')
  const words = rest.slice(0, Number(count))
  const variables = rest.slice(words.length)
  // What stands behind the last NUL is no variable.
  const end = variables.slice(0, -1).indexOf('')
  if (words.length < Number(count) || end < 0) return undefined
  const env = Object.fromEntries(variables.slice(0, end).map(it => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)]))
  return {own, cwd, words, env}
}

function answer(socket: Socket): void {
  const parts: Buffer[] = []
  const hear = (part: Buffer): void => {
    parts.push(part)
    const request = requestIn(Buffer.concat(parts).toString())
    if (request === undefined) return
    socket.off('data', hear)
    void outcomeOf(request).then(code => socket.end(`${code}\n`))
  }
  // A shell that is gone hears nothing.
  socket.on('data', hear).on('error', () => undefined)
}

async function outcomeOf({own, cwd, words, env}: Request): Promise<number> {
  const input = `${own}.in`
  const given = existsSync(input) ? {input: readFileSync(input, 'utf8')} : {}
  const {code, stdout, stderr} = await callProgram(words, {cwd, env, ...given}).catch((error: unknown) => ({
    code: 70,
    stdout: '',
    stderr: `the test could not call svcctl: ${error instanceof Error ? error.stack : String(error)}\n`,
  }))
  rmSync(input, {force: true})
  writeFileSync(`${own}.out`, stdout)
  writeFileSync(`${own}.err`, stderr)
  return code ?? 1
}
