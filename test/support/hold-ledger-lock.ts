/** A process that takes the lock of a ledger file, says so, and holds it until it is killed: `hold-ledger-lock.ts FILE HOST`. */
import {systemClock} from '../../src/base/clock.ts'
import {holderState, processIdentityOf} from '../../src/base/process-lock.ts'
import {systemRandom} from '../../src/base/random.ts'
import {LocalLedgerStore} from '../../src/ledger/local-store.ts'

const [, , path = '', host = ''] = process.argv
await new LocalLedgerStore({
  path,
  stack: 'shop',
  process: processIdentityOf(host, process.pid),
  stateOf: holder => holderState(holder, host),
  who: 'holder',
  clock: systemClock,
  random: systemRandom,
  notice: message => console.error(message),
}).lock(0)
console.log('locked')
setInterval(() => {}, 60_000)
