/** A process of its own that spends from a shared budget: `spend-shared.ts STATE_DIR COUNT PER_MINUTE BURST [hold]`. */
import {setTimeout as pause} from 'node:timers/promises'
import {systemClock} from '../../src/base/clock.ts'
import {systemRandom} from '../../src/base/random.ts'
import {PRIORITY} from '../../src/engine/model/backend.ts'
import {createSharedBudget} from '../../src/transport/shared-budget.ts'

const [stateDir = '', count = '', perMinute = '', burst = '', hold] = process.argv.slice(2)
const budget = createSharedBudget({
  stateDir,
  address: 'https://api.example/v1',
  keyHash: 'k',
  limits: {perMinute: Number(perMinute), burst: Number(burst), reserve: 0},
  clock: systemClock,
  random: systemRandom,
  onEvent: event => process.stderr.write(`${JSON.stringify(event)}\n`),
})
const sent: number[] = []
const one = async () => {
  const permit = await budget.acquire(PRIORITY.read)
  sent.push(Date.now())
  await pause(5)
  permit.ended({status: 200, headers: {}})
}
await Promise.all(Array.from({length: Number(count)}, one))
process.stdout.write(`${JSON.stringify({sent, perMinute: budget.perMinute})}\n`)
if (hold === 'hold') await new Promise(() => setInterval(() => {}, 1_000))
budget.close()
