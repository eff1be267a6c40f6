/** What is beside the ledgers of an app, and who put it there. */
import {execFileSync} from 'node:child_process'
import {mkdtempSync, symlinkSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, it} from 'vitest'
import {formerLedgers, leftBehind} from '../../../src/run/ledgers/other-ledgers.ts'

const MIB = 1_048_576

it('FIFOs and devices beside the ledgers cost neither time nor memory: a repository may bring any number of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-beside-'))
  execFileSync('mkfifo', [join(folder, 'terraform.fifo.tfstate')])
  for (let i = 0; i < 12; i++) symlinkSync('/dev/zero', join(folder, `terraform.link-${i}.tfstate`))
  const before = process.memoryUsage().rss
  let most = 0
  const looks = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss - before)
  }, 5)
  const since = performance.now()
  expect(await leftBehind(folder, [])).toEqual([])
  expect(await formerLedgers(folder, [{name: 'shop', ledger: {type: 'local', file: 'terraform.shop.tfstate'}}])).toEqual([])
  clearInterval(looks)
  expect(most / MIB).toBeLessThan(300)
  // Nobody writes into the FIFO: who waits for that waits five seconds.
  expect(performance.now() - since).toBeLessThan(4_500)
})
