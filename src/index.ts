/** What stacks import: `import {CloudTarget, Database, secret, Subscription} from 'svcctl'`. */
export {SizeError, type SizeText, type SizeUnit} from './base/units.ts'
export {
  type Authored,
  type AuthoredFields,
  type FieldPointer,
  type PolicyOptions,
  type RemovalPolicy,
  type ResourceOptions,
  type SpecOf,
  type Unlisted,
  unchecked,
  unlisted,
} from './declaration/constructs/authored.ts'
export * from './declaration/constructs/cloud.ts'
export * from './declaration/constructs/cluster.ts'
export {SpecValueError} from './declaration/constructs/hoist.ts'
export {
  ConstructReferenceError,
  type DeclaredFields,
  ManagedObject,
  type ManagedObjectOptions,
  type ObjectReferences,
  type ParentOf,
} from './declaration/constructs/managed-object.ts'
export {type SecretOptions, secret} from './declaration/constructs/secret.ts'
export {ConstructIdError, StackOptionError} from './declaration/constructs/stack-companion.ts'
export {CloudTarget, type CloudTargetProps, ClusterTarget, type ClusterTargetProps} from './declaration/constructs/target.ts'
