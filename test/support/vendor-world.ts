/** What the account has that the states below `test/takeover/states` speak of. */
import type {JsonObject} from '../../src/base/json.ts'
import {world} from '../../src/simulator/index.ts'

const AWS = {provider: 'AWS', region: 'eu-west-1', awsAccountId: '123456789012', vpcId: 'vpc-aaa', vpcCidr: '10.1.0.0/24'}
const GCP = {provider: 'GCP', vpcProjectUid: 'project-b', vpcNetworkName: 'net-b'}

/** What `plain.json` among them names, and no more. */
export const plainVendorWorld = () =>
  world().subscription('main', {paymentMethodId: 7001}).database('cache', {memoryLimitInGb: 2, replication: true}).peering(AWS).peering(GCP)

export const vendorWorld = (cache: JsonObject = {}) =>
  world()
    .subscription('main', {paymentMethodId: 7001, cloudProviders: [{provider: 'AWS', regions: [{region: 'eu-west-1'}]}]})
    .database('cache', {
      memoryLimitInGb: 2,
      replication: true,
      throughputMeasurement: {by: 'operations-per-second', value: 1000},
      ...cache,
    })
    .rule('reader')
    .user('app', {role: 'reader'})
    .database('queue', {memoryLimitInGb: 1})
    .peering(AWS)
    .peering(GCP)
    .subscription('other')
