import {mkdtempSync, readdirSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, describe, expect, it} from 'vitest'
import {emptyLedger} from '../../../src/engine/model/ledger.ts'
import {Workspace} from '../../../src/run/workspace/workspace.ts'
import {hostIn} from '../../support/host.ts'
import {stackOf} from '../../support/lab.ts'

const folder = mkdtempSync(join(tmpdir(), 'svcctl-workspace-'))
afterAll(() => rmSync(folder, {recursive: true}))

describe('a workspace that is given its ledgers', () => {
  it('reads none, and will not read them later for those that look at it too', async () => {
    const stack = stackOf('shop').build()
    const ledgers = new Map([['shop', emptyLedger('shop')]])
    const workspace = await Workspace.open({
      host: hostIn(folder),
      variables: [],
      connect: () => Promise.reject(new Error('nothing is connected to')),
      stacks: [stack],
      others: [],
      mode: 'plan',
      allowance: undefined,
      ledgers,
    })
    expect(workspace.ledgers).toBe(ledgers)
    await expect(workspace.loadLedgers()).rejects.toThrow('the ledgers of this view are given')
    await workspace.close()
    expect(readdirSync(folder)).toEqual([])
  })
})
