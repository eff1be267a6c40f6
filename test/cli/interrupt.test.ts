import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {fileURLToPath} from 'node:url'
import {describe, expect, it} from 'vitest'
import {childProgram} from '../support/child-program.ts'

const child = await childProgram(fileURLToPath(new URL('../support/interrupted-work.ts', import.meta.url)))

describe('work that is interrupted', () => {
  it.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s gives back what it holds and ends with %i, and what breaks by that is never heard of', async (signal, code) => {
    const running = spawn(process.execPath, [child], {stdio: ['pipe', 'pipe', 'inherit']})
    let said = ''
    running.stdout.setEncoding('utf8').on('data', text => {
      said += text
      if (text.includes('working')) running.kill(signal)
    })
    expect(await once(running, 'close')).toEqual([code, null])
    expect(said).toBe('working\ngiven back\n')
  })
})
