import {describe, expect, it} from 'vitest'
import {roughWidth, wrapText} from '../../src/report/wrap-text.ts'

const folded = (text: string, width: number) => wrapText(text, width, roughWidth).split('\n')

describe('text folded for a terminal', () => {
  it('breaks at spaces, and goes on under what its line begins with', () => {
    expect(folded('error: the connection to the server was refused (E_X)\n  > Check the address and that the server is up.', 34)).toEqual([
      'error: the connection to the',
      '  server was refused (E_X)',
      '  > Check the address and that the',
      '    server is up.',
    ])
  })

  it('stays as it is where it fits, and where an excerpt points at a place', () => {
    const excerpt = '  a very long expression [that, is, wrong, here and goes on and on]\n                          ^'
    expect(folded(excerpt, 40)).toEqual(excerpt.split('\n'))
    expect(folded('short', 40)).toEqual(['short'])
  })

  it('keeps in one piece what people copy', () => {
    expect(folded("  > See which there are: svcctl api enterprise get /v1/bdbs --query '[].uid'", 40)).toEqual([
      '  > See which there are:',
      "    svcctl api enterprise get /v1/bdbs --query '[].uid'",
    ])
    expect(folded('Check the ids, for example with `svcctl cloud subscriptions`.', 44)).toEqual([
      'Check the ids, for example with',
      '  `svcctl cloud subscriptions`.',
    ])
  })

  it('counts wide characters twice, marks and colours not at all', () => {
    expect([roughWidth('名前'), roughWidth('e\u0301'), roughWidth('🚀'), roughWidth('abc')]).toEqual([4, 1, 2, 3])
    expect(folded('データベース の 名前 が 見つかりません でした', 31)).toEqual(['データベース の 名前 が', '  見つかりません でした'])
    const coloured = '\u001b[31merror:\u001b[39m aaaaaaaaaa bbbbbbbbbb ccc'
    expect(folded(coloured, 32)).toEqual([coloured])
  })
})
