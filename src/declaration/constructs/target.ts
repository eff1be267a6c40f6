/** Which deployment a stack is for. Without a target, the environment or the default profile says so. */
import {Construct} from 'constructs'
import {StackCompanion} from './stack-companion.ts'

export interface CloudTargetProps {
  /** The profile with address and credentials; see `svcctl profile list`. */
  readonly profile?: string
  /** The account's id. A run whose credentials belong to another account is refused. */
  readonly account?: string
}

/** Names the profile, and pins the account, that the stack's cloud objects are for. One per stack. */
export class CloudTarget extends Construct {
  constructor(scope: Construct, id: string, props: CloudTargetProps = {}) {
    super(scope, id)
    StackCompanion.of(this).target(this, 'cloud', {...props})
  }
}

export interface ClusterTargetProps {
  /** The profile with address and credentials; see `svcctl profile list`. */
  readonly profile?: string
}

/** Names the profile that the stack's cluster objects are for. One per stack. */
export class ClusterTarget extends Construct {
  constructor(scope: Construct, id: string, props: ClusterTargetProps = {}) {
    super(scope, id)
    StackCompanion.of(this).target(this, 'cluster', {...props})
  }
}
