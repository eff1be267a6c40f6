/** The provider that a stack of ours gets, where its program makes none itself. */
import {NullProvider} from '@cdktf/provider-null/lib/provider/index.js'
import {TerraformProvider} from 'cdktf'

/**
 * It stands below svcctl's own construct, so that a program may write `new NullProvider(this, 'null')` as cdktf's
 * documentation does, before or after: Terraform takes one provider without an alias, and then it is the program's.
 */
export class DefaultNullProvider extends NullProvider {
  override toTerraform(): unknown {
    const ofProgram = this.cdktfStack.node
      .findAll()
      .filter(TerraformProvider.isTerraformProvider)
      .some(it => it !== this && it.cdktfStack === this.cdktfStack && it.terraformResourceType === 'null' && it.alias === undefined)
    return ofProgram ? {} : super.toTerraform()
  }
}
