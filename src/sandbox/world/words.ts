/** Invented names. None is meant to be a company, a project or a person that exists. */

export interface Country {
  readonly name: string;
  readonly alpha2: string;
  readonly alpha3: string;
  readonly callingCode: number;
  readonly city: string;
  readonly places: readonly [string, ...string[]];
}

export const COUNTRIES: readonly [Country, ...Country[]] = [
  country('Iceland', 'IS', 'ISL', 354, 'Selfoss', 'Kaldidalur, Hvammsheidi, Langasandur'),
  country('Kenya', 'KE', 'KEN', 254, 'Nakuru', 'Olmarei, Kilindoni, Taru Hills'),
  country('India', 'IN', 'IND', 91, 'Nashik', 'Vairagad, Sonapur, Kesarwadi'),
  country('Brazil', 'BR', 'BRA', 55, 'Cuiaba', 'Rio Verdinho, Serra Clara, Lagoa Mansa'),
  country('Ukraine', 'UA', 'UKR', 380, 'Poltava', 'Zelenivka, Stepova, Lisky'),
  country('Ghana', 'GH', 'GHA', 233, 'Kumasi', 'Asempa, Nkwanta Ridge, Adoma'),
  country('Viet Nam', 'VN', 'VNM', 84, 'Da Lat', 'Song Lam, Dak Ria, Binh Xuan'),
  country('Peru', 'PE', 'PER', 51, 'Pucallpa', 'Quebrada Azul, Alto Sereno, Yanamayo'),
  country('Portugal', 'PT', 'PRT', 351, 'Evora', 'Serra do Linho, Vale Manso, Montalvar'),
  country('Indonesia', 'ID', 'IDN', 62, 'Samarinda', 'Sungai Tenang, Tanjung Lestari, Bukit Hijau'),
  country('Morocco', 'MA', 'MAR', 212, 'Agadir', 'Oued Nour, Tizi Amane, Ait Salma'),
  country('Chile', 'CL', 'CHL', 56, 'Temuco', 'Llanura Sur, Cerro Plomizo, Pichimalal'),
];

export interface ProjectKind {
  readonly title: string;
  readonly summary: string;
  readonly removal: boolean;
  readonly sector: number;
  readonly sectorTitle: string;
  readonly methodology: string;
}

export const PROJECT_KINDS: readonly [ProjectKind, ...ProjectKind[]] = [
  kind(
    'Reforestation',
    'Native trees return to grazed and eroded land.',
    true,
    14,
    'Afforestation and reforestation',
  ),
  kind('Clean Cookstoves', 'Households cook with half the wood they used before.', false, 3, 'Energy demand'),
  kind('Wind Farm', 'Turbines replace power from coal and oil.', false, 1, 'Energy industries'),
  kind('Biochar', 'Crop residues become stable carbon in the soil.', true, 15, 'Agriculture'),
  kind(
    'Mangrove Restoration',
    'Coastal forest is planted and guarded with the villages.',
    true,
    14,
    'Afforestation and reforestation',
  ),
  kind(
    'Landfill Gas Recovery',
    'Methane is caught and burnt for power.',
    false,
    13,
    'Waste handling and disposal',
  ),
  kind(
    'Mineral Storage',
    'Captured carbon dioxide is turned to stone underground.',
    true,
    16,
    'Carbon capture and storage',
  ),
  kind('Solar Park', 'Panels feed a grid that ran on diesel.', false, 1, 'Energy industries'),
  kind('Household Biogas', 'Manure becomes cooking gas and fertilizer.', false, 15, 'Agriculture'),
  kind(
    'Peatland Rewetting',
    'Drained peat is wet again and stops burning away.',
    false,
    14,
    'Afforestation and reforestation',
  ),
];

export const ORGANIZATIONS: readonly (readonly [name: string, type: string])[] = [
  ['Brimvik Carbon Marketplace', 'marketParticipant'],
  ['Soltera Project Development', 'projectDeveloper'],
  ['Verdelmar Land Stewards', 'projectProponent'],
  ['Halvorsund Trading House', 'other'],
];

export const APPS = ['Harbour Storefront', 'Evergreen Ledger'] as const;

export const COMPANY_STEMS = words(
  'Nordlys Valdemarsund Aurelia Montalvar Kestrelwood Sableforth Ostermoor Lindqvik Palomera Tarnfield Brightwater Calderhaus Fennimore Zephyrine Rosmarine Quillford Ambervale Drakensund Ironbrook Larkmere Solvanna Thistledown Umbrafell Veridane Wexcombe Yarrowdale Corvantis Elmstrand Glimmerfjord Havenport',
);
export const COMPANY_TRADES = words(
  'Shipping Airways Foods Logistics Textiles Instruments Hotels Paper Chemicals Bakeries Software Breweries Ceramics Freight Pharma Glass Insurance Furniture Ferries Robotics',
);
export const COMPANY_FORMS = words('AS Ltd GmbH S.A. ehf. Pvt. B.V. Inc. ApS Oy');

export const FIRST_NAMES = words(
  'Aldis Benjiro Chiamaka Davor Elodie Farrukh Gudny Hemani Isadora Jorunn Kwabena Liora Mateus Nanami Oluchi Pavlo Quynh Runa Sizwe Tindra',
);
export const LAST_NAMES = words(
  'Aldenvik Barasova Cintrelli Dalhousen Ekwendu Fjallgren Gorastova Hellavik Imbuwa Jantzoni Kerembe Lowandi Marquesta Nyforsen Okandeji Prastovic Quellmann Rindvall Sorabhan Tveranger',
);

export const REASONS = [
  'Voluntary purposes',
  'Corporate emission compensation',
  'Overall mitigations of global emissions',
  'Compliance',
  'Other',
] as const;

export const COMMENTS = [
  'Emissions of the delivery fleet, first half of the year.',
  'Business travel of all offices.',
  'On behalf of our customers, see invoice.',
  'Scope 1 and 2 of the past year.',
  'Event: annual meeting, 400 guests.',
  'Product line "Zero", batch 7.',
] as const;

function country(
  name: string,
  alpha2: string,
  alpha3: string,
  callingCode: number,
  city: string,
  places: string,
): Country {
  const [first = name, ...others] = places.split(', ');
  return { name, alpha2, alpha3, callingCode, city, places: [first, ...others] };
}

function kind(
  title: string,
  summary: string,
  removal: boolean,
  sector: number,
  sectorTitle: string,
): ProjectKind {
  return {
    title,
    summary,
    removal,
    sector,
    sectorTitle,
    methodology: `SBX-M${String(sector).padStart(3, '0')}`,
  };
}

function words(list: string): readonly [string, ...string[]] {
  const [first = '', ...others] = list.split(' ');
  return [first, ...others];
}
