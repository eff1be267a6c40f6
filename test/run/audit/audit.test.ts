import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {readLine} from '../../../src/audit/entry.ts'
import {AppError} from '../../../src/base/errors.ts'
import {LedgerBook} from '../../../src/engine/apply/ledger-book.ts'
import type {Ledger} from '../../../src/engine/model/ledger.ts'
import {bareEntry} from '../../../src/engine/model/ledger-entry.ts'
import {auditedInBook} from '../../../src/run/audit/audit.ts'
import type {Host} from '../../../src/run/host/host.ts'
import {hostIn} from '../../support/host.ts'
import {MemoryStore} from '../../support/lab.ts'

let folder: string
let host: Host
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-audit-'))
  host = hostIn(folder)
})
afterEach(() => rmSync(folder, {recursive: true}))

class Refusing extends MemoryStore {
  override save(): Promise<Ledger> {
    return Promise.reject(new AppError('no space', {code: 'E_LEDGER_ACCESS'}))
  }
}

const told = (stack: string) =>
  readFileSync(join(folder, '.svcctl', 'audit', `${stack}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map(it => readLine(it)?.state)

describe('what is written into several ledgers', () => {
  it('failed, says the audit, where the ledger could not be written, and not where it was', async () => {
    const stores = new Map([
      ['a', new MemoryStore('a')],
      ['b', new Refusing('b')],
    ])
    const ledgers = new Map([...stores].map(([stack, it]) => [stack, it.ledger]))
    const book = new LedgerBook(ledgers, stores, it => Promise.resolve(it))
    const places = new Map([...stores.keys()].map(it => [it, {isRemote: false}]))
    const events = [...stores.keys()].map(stack => ({stack, event: {event: 'import', address: 'null_resource.x', state: 'done'} as const}))
    const work = () => {
      for (const stack of stores.keys())
        book.record(stack, bareEntry('null_resource.x', 'cloud.database', 'cloud/subscriptions/1/databases/1'), new Map())
      return book.flush()
    }
    await expect(auditedInBook({host, stores: places}, book, 'run-1', events, work)).rejects.toThrow('no space')
    expect([told('a'), told('b')]).toEqual([['done'], ['done', 'failed']])
  })
})
