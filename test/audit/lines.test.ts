import {execFileSync} from 'node:child_process'
import {appendFileSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {linesOf, openAudit} from '../../src/audit/lines.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-lines-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

describe('a file of an audit', () => {
  it('is a file: a FIFO, a device and a folder are refused at once', () => {
    const fifo = join(folder, 'fifo')
    execFileSync('mkfifo', [fifo])
    for (const path of [fifo, '/dev/zero', folder]) {
      expect(() => [...linesOf(path)]).toThrow(expect.objectContaining({code: 'E_AUDIT_READ'}))
      expect(() => openAudit(path)).toThrow(expect.objectContaining({code: 'E_AUDIT_READ'}))
    }
  })

  it('is read no further than it went when it was opened', () => {
    const path = join(folder, 'shop.jsonl')
    writeFileSync(path, 'a\n')
    const texts: string[] = []
    for (const {text} of linesOf(path)) {
      texts.push(text)
      if (texts.length < 100) appendFileSync(path, 'b\n')
    }
    expect(texts).toEqual(['a'])
  })
})
