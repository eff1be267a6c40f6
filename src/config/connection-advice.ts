/** Which options, variables and fields decide about a connection, for what its errors advise. */

import type {Api} from '../base/apis.ts'
import type {ConnectionAdvice} from '../transport/connection-advice.ts'
import {optionRow, type SourcedField, variablesOf} from './option-table.ts'

const waysOf = (field: SourcedField, api: Api, value = ''): readonly string[] => [
  ...[optionRow(field).option ?? []].flat(),
  ...variablesOf(field, api).map(name => (value === '' ? name : `${name}=${value}`)),
  value === '' ? `${field} in the profile` : `${field} = ${value} in the profile`,
]

/** Nothing loosens the cloud. */
export const adviceFor = (api: Api): ConnectionAdvice => ({
  address: waysOf(api === 'cloud' ? 'api_url' : 'url', api),
  trust: waysOf('ca_file', api),
  insecure: api === 'cloud' ? [] : waysOf('insecure', api, 'true'),
})
