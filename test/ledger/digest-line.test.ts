import {describe, expect, it} from 'vitest'
import {processorsAtWork} from '../../src/base/processors.ts'
import {DigestLine, URGENCY} from '../../src/ledger/digest-line.ts'

describe('the line of digests', () => {
  it('makes first what somebody waits for, then what was sent, then what is to be sent', async () => {
    const line = new DigestLine(1)
    const made: string[] = []
    const make = (name: string, urgency: (typeof URGENCY)[keyof typeof URGENCY]) =>
      line.scrypt(name, 'a salt', 24, urgency).then(() => void made.push(name))
    await Promise.all([
      make('first of all', URGENCY.sending),
      make('to be sent', URGENCY.sending),
      make('sent', URGENCY.sent),
      make('asked', URGENCY.asked),
    ])
    expect(made).toEqual(['first of all', 'asked', 'sent', 'to be sent'])
  })

  it('has as many processors as there are, and never more than sixteen', () => {
    expect([1, 2, 8, 16, 64].map(processorsAtWork)).toEqual([1, 2, 8, 16, 16])
  })
})
