import {expect, it} from 'vitest'
import {atMost} from '../../src/transport/size-limit.ts'

async function* parts(...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) yield new Uint8Array(size)
}

/** The sizes of what is handed on, and what ended it. */
async function handedOn(sizes: readonly number[], maxBytes: number | undefined, headers: Record<string, string> = {}) {
  const seen: number[] = []
  try {
    for await (const part of atMost(parts(...sizes), headers, {maxBytes, what: 'the package'})) seen.push(part.length)
  } catch (error) {
    return [seen, error instanceof Error ? error.message : error]
  }
  return [seen, undefined]
}

it('as many bytes as are allowed pass, and all of them where nothing is said', async () => {
  expect(await handedOn([3, 7], 10)).toEqual([[3, 7], undefined])
  expect(await handedOn([3, 7], undefined, {'content-length': '10'})).toEqual([[3, 7], undefined])
})

it('what would be too much is not handed on, and the limit is named', async () => {
  expect(await handedOn([3, 8], 10)).toEqual([[3], 'the package is larger than --max-size 10 B allows'])
})

it('nothing is handed on where the server announces more', async () => {
  expect(await handedOn([3], 10, {'content-length': '11'})).toEqual([[], 'the package has 11 B, which is more than --max-size 10 B allows'])
})
