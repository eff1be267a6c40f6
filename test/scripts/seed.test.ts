import {expect, it} from 'vitest'
import {seedOr} from '../support/seed.ts'

it('a test over random worlds has the seed of the environment, or its own', () => {
  const given = process.env.SVCCTL_TEST_SEED
  if (given !== undefined) console.log(`the seed is ${given}`)
  expect(seedOr(7)).toBe(given === undefined ? 7 : Number(given))
})
