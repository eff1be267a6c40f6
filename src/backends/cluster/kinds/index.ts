import type {Kind} from '../../../engine/model/kind.ts'
import {clusterDatabase} from './database.ts'
import {clusterNode} from './node.ts'
import {clusterPolicy} from './policy.ts'
import {clusterSettings} from './settings.ts'
import {clusterUser} from './user.ts'

export const clusterKinds: readonly Kind[] = [clusterSettings, clusterPolicy, clusterDatabase, clusterNode, clusterUser]
