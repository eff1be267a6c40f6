/** Child process of `test/cli/interrupt.test.ts`: work that breaks when it is interrupted, which nobody must hear of. */
import {setImmediate as turn} from 'node:timers/promises'
import {endingOnInterrupt} from '../../src/cli/interrupt.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)
let breakOff: (error: Error) => void = () => {}

endingOnInterrupt(
  () =>
    new Promise<void>((_, reject) => {
      breakOff = reject
      process.stdin.resume()
      say('working')
    }),
  async usual => {
    breakOff(new Error('broken'))
    await turn()
    say('given back')
    return usual
  },
).catch(() => say('heard of it'))
