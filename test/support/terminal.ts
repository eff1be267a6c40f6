/** svcctl on a real terminal: tmux shows what a person would see, and types what a person would type. */
import {execFileSync} from 'node:child_process'
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {systemClock} from '../../src/base/clock.ts'
import {waitFor} from '../../src/base/wait-for.ts'
import {PROGRAM} from './program.ts'
import {FAST} from './site.ts'

export const hasTerminal = existsSync('/usr/bin/tmux')

export interface Terminal {
  screen(): string
  /** @returns the screen once it shows this */
  shows(text: string | RegExp): Promise<string>
  /** Words and names of keys, as tmux has them. */
  types(...keys: readonly string[]): void
  /** Closes the window, as a person would. */
  hangUp(): void
  /** What svcctl ended with, over 128 where a signal ended it; where the window was closed, of a shell that outlives that. */
  exitCode(): Promise<number | undefined>
  close(): void
}

interface TerminalOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The shell goes on when the window is closed, and so nobody tells svcctl. */
  readonly outlives?: boolean
}

/** A window of 100 columns in which svcctl runs; its exit code is shown as `exit=0`. */
export function openTerminal(args: readonly string[], {cwd, env, outlives = false}: TerminalOptions): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-tmux-'))
  const tm = (...words: string[]) => execFileSync('tmux', ['-S', join(folder, 's'), ...words], {encoding: 'utf8'})
  const exports = Object.entries(env).map(([key, value]) => `export ${key}='${value}'`)
  const words = [process.execPath, PROGRAM, ...args, ...FAST].map(it => `'${it}'`)
  // Nobody answers questions where CI is set, and these tests may run there.
  const script = `unset CI\n${exports.join('\n')}\ncd '${cwd}'\n${outlives ? 'trap : HUP\n' : ''}${words.join(' ')}\ncode=$?\necho $code > '${join(folder, 'code')}'\necho "exit=$code"\n[ -t 1 ] && sleep 60\n`
  writeFileSync(join(folder, 'run.sh'), script)
  tm('-f', '/dev/null', 'new-session', '-d', '-s', 'svc', '-x', '100', '-y', '30', 'bash', join(folder, 'run.sh'))
  const screen = () => tm('capture-pane', '-p', '-t', 'svc')
  return {
    screen,
    shows: async text => {
      const look = () => {
        const now = screen()
        return Promise.resolve((typeof text === 'string' ? now.includes(text) : text.test(now)) ? now : undefined)
      }
      // Each look is a process of its own.
      const found = await waitFor(look, {clock: systemClock, everyMs: 150, timeoutMs: 20_000})
      return found ?? Promise.reject(new Error(`never seen: ${String(text)} in\n${screen()}`))
    },
    types: (...keys) => void tm('send-keys', '-t', 'svc', ...keys),
    hangUp: () => void tm('kill-session', '-t', 'svc'),
    exitCode: () => {
      const written = () =>
        Promise.resolve(existsSync(join(folder, 'code')) ? Number(readFileSync(join(folder, 'code'), 'utf8')) : undefined)
      return waitFor(written, {clock: systemClock, everyMs: 50, timeoutMs: 10_000})
    },
    close: () => {
      try {
        tm('kill-server')
      } catch {
        // It was closed already.
      }
      rmSync(folder, {recursive: true, force: true})
    },
  }
}
