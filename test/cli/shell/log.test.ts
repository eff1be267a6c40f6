import {describe, expect, it} from 'vitest'
import {Redactor} from '../../../src/base/redact.ts'
import {createLog} from '../../../src/cli/shell/log.ts'

describe('the log', () => {
  const hostile = 'task a\u001b[2J\u0007b\u009b31m\u202ec\nerror: forged'
  const shown = 'task a\\u001b[2J\\u0007b\\u009b31m\\u202ec\\nerror: forged'

  it('shows what is said as one line, with everything a terminal would act on as an escape', () => {
    const written: string[] = []
    const log = createLog(text => written.push(text), new Redactor(), 'trace', '\u001b[33mwarning:\u001b[39m')
    log.note(hostile)
    log.warn(hostile)
    log.trace(hostile)
    log.below([hostile])
    expect(written).toEqual([`${shown}\n`, `\u001b[33mwarning:\u001b[39m ${shown}\n`, `${shown}\n`, `${shown}\n`])
  })
})

it('has no colours but its own: what a server or a stack calls red is not, not even in the very sequence we paint with', () => {
  const written: string[] = []
  const log = createLog(text => written.push(text), new Redactor(), 'info', '\u001b[33mwarning:\u001b[39m')
  log.note('\u001b[31mall is lost\u001b[39m')
  log.warn('\u001b[31mall is lost\u001b[39m')
  log.painted('\u001b[31mfailed\u001b[39m')
  expect(written).toEqual([
    '\\u001b[31mall is lost\\u001b[39m\n',
    '\u001b[33mwarning:\u001b[39m \\u001b[31mall is lost\\u001b[39m\n',
    '\u001b[31mfailed\u001b[39m\n',
  ])
})

it('the lines kept at the end are taken away from their first column, wherever a ^C moved the cursor to', () => {
  const written: string[] = []
  const log = createLog(text => written.push(text), new Redactor(), 'info')
  log.below(['1 of 4 ended', '  cache: update'])
  log.warn('stopping')
  log.below([])
  expect(written).toEqual([
    '1 of 4 ended\n  cache: update\n',
    '\r\u001b[2A\u001b[Jwarning: stopping\n1 of 4 ended\n  cache: update\n',
    '\r\u001b[2A\u001b[J',
  ])
})
