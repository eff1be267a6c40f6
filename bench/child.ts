/** A program as a person starts it: wall and processor time, and the most memory it and what it starts held at once. */
import {spawn, spawnSync} from 'node:child_process'
import {readdirSync, readFileSync} from 'node:fs'
import {setTimeout as pause} from 'node:timers/promises'

export interface Measured {
  readonly wallMs: number
  /** User and system time of the program and of what it started and waited for. */
  readonly cpuMs: number
  /** Resident; 0 where the system does not tell. */
  readonly peakMiB: number
}

export interface ChildOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Given up after this long. */
  readonly timeoutMs?: number
}

/** `undefined` when it did not end in time. @throws Error when it failed */
export async function measureChild(
  command: readonly string[],
  {cwd, env, timeoutMs = 600_000}: ChildOptions,
): Promise<Measured | undefined> {
  // bash's own clock counts grandchildren too, which Node's does not.
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" >/dev/null'
  const child = spawn('bash', ['-c', script, 'bash', ...command], {
    cwd,
    env: clean(env),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  let code: number | null | undefined
  child.on('close', it => {
    code = it
  })
  const deadline = performance.now() + timeoutMs
  let peak = 0
  while (code === undefined) {
    peak = Math.max(peak, child.pid === undefined ? 0 : residentMiB(child.pid))
    if (performance.now() > deadline && child.pid !== undefined) {
      process.kill(-child.pid, 'SIGKILL')
      return undefined
    }
    await pause(20)
  }
  const times = /([\d.]+) ([\d.]+) ([\d.]+)\s*$/.exec(said)
  if (code !== 0 || times === null) throw new Error(`${command.join(' ')} failed (${code}):\n${said.slice(-2000)}`)
  const [wall = 0, user = 0, system = 0] = times.slice(1).map(Number)
  return {wallMs: wall * 1000, cpuMs: (user + system) * 1000, peakMiB: Math.round(peak)}
}

/** NODE_EXTRA_CA_CERTS alone costs every start of Node 20 some 30 ms. */
const clean = ({NODE_EXTRA_CA_CERTS: _, ...env}: ChildOptions['env']): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

export interface StartTime {
  readonly medianMs: number
  /** The least disturbed of them: on a machine that others use too, the one to compare. */
  readonly leastMs: number
  /** The least user and system time, which others disturb less. */
  readonly leastCpuMs: number
}

export interface Started extends ChildOptions {
  readonly command: readonly [string, ...string[]]
}

/** Times of several starts of each command, in turns, so that all meet the same weather. The first of each is not counted. */
export function startTimes(commands: readonly Started[], rounds = 15): StartTime[] {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" >/dev/null 2>&1'
  const times = commands.map((): {wallMs: number; cpuMs: number}[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [i, {command, cwd, env}] of commands.entries()) {
      const {stderr} = spawnSync('bash', ['-c', script, 'bash', ...command], {cwd, env: clean(env), encoding: 'utf8'})
      const [wall = 0, user = 0, system = 0] = stderr.trim().split(' ').map(Number)
      if (round > 0) times[i]?.push({wallMs: wall * 1000, cpuMs: (user + system) * 1000})
    }
  }
  return times.map(it => {
    const walls = it.map(({wallMs}) => wallMs).sort((a, b) => a - b)
    return {medianMs: walls[Math.floor(rounds / 2)] ?? 0, leastMs: walls[0] ?? 0, leastCpuMs: Math.min(...it.map(({cpuMs}) => cpuMs))}
  })
}

/** Of a process and everything below it, as Linux tells. */
function residentMiB(root: number): number {
  try {
    const parents = new Map<number, number>()
    const resident = new Map<number, number>()
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue
      const status = statusOf(name)
      const pid = Number(name)
      parents.set(pid, Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0))
      resident.set(pid, Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0))
    }
    const below = (pid: number): boolean => pid === root || (parents.has(pid) && pid > 1 && below(parents.get(pid) ?? 0))
    return [...resident].reduce((sum, [pid, kib]) => sum + (below(pid) ? kib : 0), 0) / 1024
  } catch {
    return 0
  }
}

function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    // It ended meanwhile.
    return ''
  }
}
