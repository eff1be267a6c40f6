/**
 * Whether the session bus, behind which Linux has its keyring, answers at all. The keyring's native library greets it in a way that
 * lets nothing else happen in this process, no time-out and no Ctrl-C, and waits for as long as that takes: a bus that is
 * stopped, or a socket that somebody else listens on, would stop everything for ever. What comes after the greeting it gives up by
 * itself.
 */
import type {ProcessVariables} from '../base/process-variables.ts'

const PATIENCE_MS = 5_000

/**
 * @param all - names the bus
 * @returns why nobody should go on asking; `undefined` where it answers, or where the library itself says at once what is wrong
 */
export async function silenceOfBus(all: ProcessVariables = process.env, patienceMs = PATIENCE_MS): Promise<string | undefined> {
  const path = process.platform === 'linux' ? socketOf(all) : undefined
  if (path === undefined) return undefined
  // Few ask a keyring, and everybody starts.
  const {createConnection} = await import('node:net')
  return new Promise(resolve => {
    const socket = createConnection({path})
    const done = (why?: string) => {
      socket.destroy()
      resolve(why)
    }
    socket.setTimeout(patienceMs, () => done(`the session bus does not answer (${patienceMs / 1000} s)`))
    socket.once('data', () => done())
    socket.once('error', () => done())
    socket.once('close', () => done())
    socket.write(`\0AUTH EXTERNAL ${Buffer.from(String(process.getuid?.() ?? 0)).toString('hex')}\r\n`)
  })
}

/** Of the first address that is one of this machine. */
function socketOf({DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: runtime}: ProcessVariables): string | undefined {
  if (!address) return runtime ? `${runtime}/bus` : undefined
  const [, kind, name = ''] = /(?:^|;)unix:(?:[^;]*,)?(path|abstract)=([^,;]*)/.exec(address) ?? []
  if (kind === undefined || /%(?![0-9a-f]{2})/i.test(name)) return undefined
  const plain = name.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return kind === 'abstract' ? `\0${plain}` : plain
}
