import {EventEmitter} from 'node:events'
import {PassThrough} from 'node:stream'
import {describe, expect, it} from 'vitest'
import {Redactor} from '../../../src/base/redact.ts'
import {onCrash} from '../../../src/cli/show/crash.ts'
import {guardedStream} from '../../../src/cli/show/guarded-stream.ts'

describe('what nobody caught', () => {
  it('is said once, in one line and through the redactor, and ends the process', () => {
    const redactor = new Redactor()
    redactor.register('crash-secret-1')
    const written: string[] = []
    const stderr = guardedStream(Object.assign(new PassThrough(), {write: (text: string) => written.push(text) > 0}), redactor)
    const ended: number[] = []
    const site = Object.assign(new EventEmitter(), {exit: (code: number) => ended.push(code)})
    onCrash(site, error => {
      stderr.write(`${error.code}: ${error.message}\n`)
      // The stream that is said to is the one that fails.
      site.emit('uncaughtException', new Error('again'))
    })
    site.emit('uncaughtException', new Error('no such thing as crash-secret-1'))
    expect(written).toEqual(['E_INTERNAL: svcctl itself failed: no such thing as [redacted]\n'])
    expect(ended).toEqual([1, 1])
  })
})

describe('a guarded stream', () => {
  it('hides secrets in text, leaves bytes as they are, and is the stream it guards in all else', () => {
    const redactor = new Redactor()
    redactor.register('stream-secret')
    const inner = Object.assign(new PassThrough(), {isTTY: true, columns: 80})
    const guarded = guardedStream(inner, redactor)
    guarded.write('a stream-secret b\n')
    guarded.write(Buffer.from('stream-secret as it came'))
    expect(inner.read()?.toString()).toBe('a [redacted] b\nstream-secret as it came')
    expect([guarded.isTTY, guarded.columns]).toEqual([true, 80])
    let heard = false
    guarded.once('some-event', () => {
      heard = true
    })
    inner.emit('some-event')
    expect(heard).toBe(true)
  })
})
