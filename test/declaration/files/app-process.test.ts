import {existsSync, mkdtempSync, readFileSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, describe, expect, it} from 'vitest'
import type {Clock} from '../../../src/base/clock.ts'
import {systemClock} from '../../../src/base/clock.ts'
import {runApp} from '../../../src/declaration/files/app-process.ts'
import {until} from '../../support/until.ts'

/** Minutes pass in a moment, and the processes get that moment. */
const hurried = (): Clock & {waited: number} => ({
  waited: 0,
  now() {
    return this.waited
  },
  async sleep(ms, signal) {
    signal?.throwIfAborted()
    this.waited += ms
    await systemClock.sleep(2, signal)
  },
})

const folder = mkdtempSync(join(tmpdir(), 'app-process-'))
const pids: number[] = []
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A zombie is nobody's any more, and still there until it is fetched.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
/** Until a script has written its process id. */
async function pidIn(name: string): Promise<number> {
  const file = join(folder, name)
  await until(() => existsSync(file) && readFileSync(file, 'utf8').trim() !== '')
  const pid = Number(readFileSync(file, 'utf8'))
  pids.push(pid)
  return pid
}
const untilGone = (pid: number) => until(() => !alive(pid))
const run = (script: string, more: {signal?: AbortSignal; clock?: Clock; onLine?: (line: string) => void} = {}) => {
  writeFileSync(join(folder, 'app.sh'), script)
  return runApp('sh app.sh', {
    cwd: folder,
    environment: {PATH: process.env.PATH ?? ''},
    signal: more.signal,
    onLine: more.onLine,
    clock: more.clock ?? hurried(),
  })
}

afterEach(() => {
  for (const pid of pids.splice(0)) if (alive(pid)) process.kill(pid, 'SIGKILL')
})

describe.skipIf(process.platform === 'win32')('the program of the stacks', () => {
  it('that ignores SIGTERM is ended after five seconds, with what it started', async () => {
    const stop = new AbortController()
    const clock = hurried()
    const running = run("trap '' TERM; sleep 300 & echo $! > one; echo $$ > two; wait; sleep 300", {signal: stop.signal, clock})
    const [child, parent] = [await pidIn('one'), await pidIn('two')]
    stop.abort(new Error('stopped'))
    await expect(running).rejects.toThrow('stopped')
    expect(clock.waited).toBeGreaterThanOrEqual(5000)
    await untilGone(child)
    await untilGone(parent)
  })

  it('that ends when it is asked to is not waited for', async () => {
    const stop = new AbortController()
    const clock = hurried()
    const running = run('echo $$ > three; exec sleep 300', {signal: stop.signal, clock})
    const pid = await pidIn('three')
    stop.abort(new Error('stopped'))
    await expect(running).rejects.toThrow('stopped')
    expect(clock.waited).toBeLessThan(5000)
    await untilGone(pid)
  })

  it('that leaves something running which holds its output has ended all the same, and takes it along', async () => {
    const result = run('echo stacks; sleep 300 & echo $! > four; exit 0')
    const left = await pidIn('four')
    expect(await result).toEqual({output: 'stacks\n'})
    await untilGone(left)
  })

  it('is heard to its last word, and how it ended is told', async () => {
    expect(await run('(sleep 0.1; echo last >&2) & echo first; exit 3', {clock: systemClock})).toEqual({
      failure: 'exit 3',
      output: 'last\n',
    })
    expect(await run('kill -KILL $$')).toMatchObject({failure: expect.stringMatching(/^(?:SIGKILL|exit 137)$/)})
  })

  it('is told line by line, however it writes them, and the last one without its end', async () => {
    const lines: string[] = []
    await run('printf "pass"; printf "one-" >&2; sleep 0.1; printf "word\\nrest"; sleep 0.1; printf "two\\n" >&2', {
      onLine: line => lines.push(line),
      clock: systemClock,
    })
    expect(lines.sort()).toEqual(['one-two', 'password', 'rest'])
  })

  it('that writes without an end is cut where the cut can be seen', async () => {
    const lines: string[] = []
    const {output} = await run(`awk 'BEGIN {for (i = 0; i < 400000; i++) printf "x"}'`, {
      onLine: line => lines.push(line),
      clock: systemClock,
    })
    expect(output).toMatch(/^x{65536}…\n…x{65536}$/)
    expect(lines.length).toBeGreaterThan(3)
    for (const [at, line] of lines.entries()) expect(line).toMatch(at === 0 ? /^x+…$/ : at === lines.length - 1 ? /^…x+…?$/ : /^…x+…$/)
  })

  it('is not started when it was stopped before', async () => {
    await expect(run('touch started', {signal: AbortSignal.abort(new Error('early'))})).rejects.toThrow('early')
    expect(existsSync(join(folder, 'started'))).toBe(false)
  })
})
