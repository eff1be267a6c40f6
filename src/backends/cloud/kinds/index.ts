import type {Kind} from '../../../engine/model/kind.ts'
import {cloudAclRule} from './acl-rule.ts'
import {cloudAclUser} from './acl-user.ts'
import {cloudDatabase} from './database.ts'
import {cloudPeering} from './peering.ts'
import {cloudSubscription} from './subscription.ts'

export const cloudKinds: readonly Kind[] = [cloudSubscription, cloudDatabase, cloudPeering, cloudAclRule, cloudAclUser]
