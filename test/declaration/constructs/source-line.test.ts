/** Where in the user's program a construct was made. */
import {runInThisContext} from 'node:vm'
import {describe, expect, it} from 'vitest'
import {callerLine} from '../../../src/declaration/constructs/source-line.ts'

/** Calls through so many functions of somebody's library. */
const through = runInThisContext('(function down(depth, call) { return depth === 0 ? call() : down(depth - 1, call) })', {
  filename: '/app/node_modules/library/index.js',
}) as (depth: number, call: () => string | undefined) => string | undefined

describe('the line of the program that makes a construct', () => {
  it.each([0, 3, 12])('is found behind %i calls within libraries', depth => {
    expect(through(depth, callerLine)).toMatch(/^test\/declaration\/constructs\/source-line\.test\.ts:\d+$/)
  })

  it('is not known where twenty calls lie between', () => {
    expect(through(30, callerLine)).toBeUndefined()
  })
})
