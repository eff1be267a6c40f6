import {describe, expect, it} from 'vitest'
import {idIn, idSpelled} from '../../src/base/id-in.ts'

describe('the id in an answer', () => {
  it.each([
    [{id: 12}, '12'],
    [{id: ' a b '}, 'a b'],
    [{uid: '🔑'}, '🔑'],
    [{id: '', uid: 3}, '3'],
    [{id: '..'}, undefined],
    [{id: '%2e%2E'}, undefined],
    [{id: '\ud800'}, undefined],
    [{id: 'a\udc00b'}, undefined],
    [{id: 1e21}, undefined],
    [{id: [1]}, undefined],
    [{id: {}}, undefined],
  ])('in %j is %s, and can stand in an address', (answer, id) => {
    const found = idIn(answer, 'id', 'uid')
    expect(found).toBe(id)
    expect(() => encodeURIComponent(found ?? '')).not.toThrow()
  })
})

describe('the id that a segment of a path spells', () => {
  it.each([
    ['12', '12'],
    ['a%20b', 'a b'],
    ['%F0%9F%94%91', '🔑'],
    ['', undefined],
    ['%2e%2E', undefined],
    ['%zz', undefined],
    ['%ff', undefined],
    ['%', undefined],
    ['\ud800', undefined],
    ['a\udc00b', undefined],
  ])('%j is %s, and can stand in an address', (segment, id) => {
    expect(idSpelled(segment)).toBe(id)
    expect(() => encodeURIComponent(id ?? '')).not.toThrow()
  })
})
