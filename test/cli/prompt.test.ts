import {PassThrough, Readable} from 'node:stream'
import {describe, expect, it} from 'vitest'
import {asksYes, confirm, readSecret} from '../../src/cli/prompt.ts'
import {readEnvironment} from '../../src/config/environment.ts'

/** Somebody at a keyboard (or nobody), and what the program showed them. */
function somebody({terminal = true, env = {}}: {terminal?: boolean; env?: Record<string, string>} = {}) {
  const stdin = Object.assign(new PassThrough(), {isTTY: terminal, setRawMode: (raw: boolean) => modes.push(raw)})
  const stderr = Object.assign(new PassThrough(), {isTTY: terminal, columns: 80})
  const modes: boolean[] = []
  let shown = ''
  stderr.on('data', part => {
    shown += part
  })
  return {
    context: {streams: {stdin, stdout: new PassThrough(), stderr}, environment: readEnvironment(env)},
    types: (text: string) => stdin.write(text),
    ends: (text: string) => stdin.end(text),
    shown: () => shown,
    modes,
  }
}

describe('a question', () => {
  it('is answered by y or yes, and by nothing else', async () => {
    for (const [typed, answer] of [
      ['y', true],
      ['YES', true],
      ['', false],
      ['yep', false],
      ['n', false],
    ] as const) {
      const {context, types, shown} = somebody()
      const asked = asksYes(context, 'Overwrite?')
      types(`${typed}\n`)
      expect([typed, await asked]).toEqual([typed, answer])
      expect(shown()).toContain('Overwrite? (y/N)')
    }
  })

  it('is not asked without a terminal, nor in CI: the answer is no, exit 3, and the flag is named', async () => {
    for (const nobody of [somebody({terminal: false}), somebody({env: {CI: 'true'}})]) {
      await expect(confirm(nobody.context, 'Remove it?', '--yes')).rejects.toMatchObject({
        code: 'E_NOT_CONFIRMED',
        exit: 3,
        suggestions: [expect.stringContaining('--yes')],
      })
      expect(nobody.shown()).toBe('')
    }
  })

  it('whose input ends is answered by no', async () => {
    const {context, ends, shown} = somebody()
    const asked = confirm(context, 'Remove it?', '--yes')
    ends('')
    await expect(asked).rejects.toMatchObject({message: 'not confirmed: nothing was done', suggestions: []})
    expect(shown()).toMatch(/\n$/)
  })
})

describe('a secret', () => {
  it('is typed without an echo, and can be corrected', async () => {
    const {context, types, shown, modes} = somebody()
    const secret = readSecret(context, '--password')
    types('hunterr\u007f2\r')
    expect(await secret).toBe('hunter2')
    expect(shown()).toBe('--password: \n')
    expect(modes).toEqual([true, false])
  })

  it('from a pipe has an end: what goes on for ever is none', async () => {
    const {context} = somebody({terminal: false})
    const stdin = Object.assign(
      Readable.from(
        (function* () {
          for (;;) yield 'y\n'.repeat(10_000)
        })(),
      ),
      {isTTY: false},
    )
    const read = readSecret({...context, streams: {...context.streams, stdin}}, '--password')
    await expect(read).rejects.toMatchObject({exit: 64, message: expect.stringContaining('standard input has more than 1048576 bytes')})
  })

  it('from a pipe is everything but the newline at its end', async () => {
    const {context, ends} = somebody({terminal: false})
    const secret = readSecret(context, '--password')
    ends(' two words \n')
    expect(await secret).toBe(' two words ')
  })

  it('that is empty is refused', async () => {
    const {context, ends} = somebody({terminal: false})
    const secret = readSecret(context, '--password')
    ends('\n')
    await expect(secret).rejects.toMatchObject({code: 'E_USAGE', exit: 64})
  })

  it('given up with Ctrl-C ends without one', async () => {
    const {context, types, modes} = somebody()
    const secret = readSecret(context, '--password')
    types('hun\u0003')
    await expect(secret).rejects.toMatchObject({code: 'E_NOT_CONFIRMED'})
    expect(modes).toEqual([true, false])
  })
})
