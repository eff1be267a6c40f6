import {describe, expect, it} from 'vitest'
import {createTransport} from '../../src/transport/undici-transport.ts'

const SECRET = 'hunter2'

describe('a header that HTTP cannot carry', () => {
  it.each([
    ['a key with a line break at its end', {'x-api-key': `${SECRET}\n`}],
    ['a second header inside a value', {'x-api-key': `${SECRET}\r\nx: y`}],
    ['letters beyond Latin', {'x-api-key': `${SECRET}\u2028`}],
    ['a name that is none', {'x api': SECRET}],
  ])('is the fault of who gave it, and its value is not shown: %s', async (_, headers) => {
    const transport = createTransport({})
    const request = {method: 'GET', url: 'http://127.0.0.1:9/', headers}
    for (const sent of [transport.send(request), transport.openStream(request)]) {
      const error = await sent.catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({code: 'E_HEADER_VALUE', exit: 64})
      expect(String(error)).not.toContain(SECRET)
    }
    await transport.close()
  })
})
