/** Every kind a stack may declare, by name. */
import type {Kinds} from '../engine/model/kind.ts'
import {cloudKinds} from './cloud/kinds/index.ts'
import {clusterKinds} from './cluster/kinds/index.ts'

export const kinds: Kinds = new Map([...cloudKinds, ...clusterKinds].map(kind => [kind.name, kind]))
