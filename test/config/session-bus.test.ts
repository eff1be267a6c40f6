import {once} from 'node:events'
import {mkdtempSync, rmSync} from 'node:fs'
import {createServer, type Server, type Socket} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {silenceOfBus} from '../../src/config/session-bus.ts'
import {type Sandbox, sandbox} from '../support/program.ts'

let here: Sandbox
let folder: string
let server: Server
const sockets: Socket[] = []

beforeEach(() => {
  here = sandbox()
  folder = mkdtempSync(join(tmpdir(), 'svcctl-bus-'))
})
afterEach(() => {
  for (const it of sockets.splice(0)) it.destroy()
  server.close()
  here.remove()
  rmSync(folder, {recursive: true, force: true})
})

/** A bus that says this when it is greeted, or nothing. */
async function bus(says?: string): Promise<string> {
  const path = join(folder, 'bus socket')
  server = createServer(socket => {
    sockets.push(socket)
    socket.on('data', () => void (says !== undefined && socket.write(says)))
  })
  await once(server.listen(path), 'listening')
  return `unix:path=${path.replaceAll(' ', '%20')},guid=1234`
}

describe.runIf(process.platform === 'linux')('the session bus', () => {
  it('that answers is used, and so is one that is not there: the library says what is wrong', async () => {
    const address = await bus('OK 1234\r\n')
    expect(await silenceOfBus({DBUS_SESSION_BUS_ADDRESS: `tcp:host=a;${address}`})).toBeUndefined()
    expect(await silenceOfBus({DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus'})).toBeUndefined()
    expect(await silenceOfBus({XDG_RUNTIME_DIR: '/nowhere'})).toBeUndefined()
    expect(await silenceOfBus({})).toBeUndefined()
  })

  it('that is silent is given up by the program: it ends, and says what to do', async () => {
    const env = {DBUS_SESSION_BUS_ADDRESS: await bus()}
    expect(await silenceOfBus(env, 10)).toBe('the session bus does not answer (0.01 s)')
    const {code, stderr} = await here.child(['files-key', 'set', '-', '--use-keyring'], {env, input: 'upload-key-abcd'})
    expect(code).toBe(1)
    expect(stderr).toContain('the session bus does not answer (5 s) (E_KEYRING_UNAVAILABLE)\n')
  }, 30_000)
})
