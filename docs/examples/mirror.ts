// Prints the stored certificates of an organization's retirements, the newest first. DATA_DIR is the folder of the mirror.
import { openMirror } from 'carbon-mirror/mirror';

const mirror = await openMirror({ dataDir: process.env['DATA_DIR'] ?? 'data' });
const retirements = await mirror
  .selectFrom('retirements')
  .innerJoin('organizations', 'organizations.id', 'retirements.organization_id')
  .innerJoin('certificates', join =>
    join
      .onRef('certificates.organization_id', '=', 'retirements.organization_id')
      .onRef('certificates.retirement_id', '=', 'retirements.id'),
  )
  .select([
    'organizations.full_name',
    'retirements.beneficiary',
    'retirements.amount_exact',
    'certificates.file',
  ])
  .where('certificates.state', '=', 'stored')
  .orderBy('retirements.created_at', 'desc')
  .limit(20)
  .execute();
for (const { full_name: owner, beneficiary, amount_exact: tonnes, file } of retirements)
  console.log(owner, beneficiary ?? 'unclaimed', tonnes, file);
await mirror.destroy();
