package cfnsim

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

func (s *Service) templateOperations() []service.Operation {
	return []service.Operation{
		service.Read("GetTemplate", s.getTemplate, "StackName", "TemplateStage"),
		service.Read("GetTemplateSummary", s.getTemplateSummary, "StackName", "TemplateBody"),
		service.Read("ValidateTemplate", s.validateTemplate, "TemplateBody"),
	}
}

// getTemplate returns the template as it was given: without transforms,
// processing changes nothing.
func (s *Service) getTemplate(c *service.Call, in *cloudformation.GetTemplateInput) (*cloudformation.GetTemplateOutput, error) {
	st, err := s.find(c.Region, in.StackName)
	if err != nil {
		return nil, err
	}
	return &cloudformation.GetTemplateOutput{
		TemplateBody: aws.String(st.Body), StagesAvailable: []types.TemplateStage{types.TemplateStageOriginal, types.TemplateStageProcessed},
	}, nil
}

const capabilityReason = "The following resource(s) require capabilities: [AWS::IAM]"

func (s *Service) getTemplateSummary(c *service.Call, in *cloudformation.GetTemplateSummaryInput) (*cloudformation.GetTemplateSummaryOutput, error) {
	body := aws.ToString(in.TemplateBody)
	if in.StackName != nil {
		st, err := s.find(c.Region, in.StackName)
		if err != nil {
			return nil, err
		}
		body = st.Body
	}
	t, err := parse(body)
	if err != nil {
		return nil, err
	}
	out := &cloudformation.GetTemplateSummaryOutput{
		Capabilities: []types.Capability{t.capability()}, CapabilitiesReason: aws.String(capabilityReason),
		Description: optional(t.Description), Version: aws.String("2010-09-09"),
	}
	for _, name := range slices.Sorted(maps.Keys(t.Resources)) {
		if typ := t.Resources[name].Type; !slices.Contains(out.ResourceTypes, typ) {
			out.ResourceTypes = append(out.ResourceTypes, typ)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		p := t.Parameters[name]
		out.Parameters = append(out.Parameters, types.ParameterDeclaration{
			ParameterKey: aws.String(name), ParameterType: aws.String(p.Type), DefaultValue: p.Default, Description: optional(p.Description),
			NoEcho: aws.Bool(p.NoEcho), ParameterConstraints: &types.ParameterConstraints{AllowedValues: p.Allowed},
		})
	}
	return out, nil
}

func (s *Service) validateTemplate(_ *service.Call, in *cloudformation.ValidateTemplateInput) (*cloudformation.ValidateTemplateOutput, error) {
	t, err := parse(aws.ToString(in.TemplateBody))
	if err != nil {
		return nil, err
	}
	out := &cloudformation.ValidateTemplateOutput{
		Capabilities: []types.Capability{t.capability()}, CapabilitiesReason: aws.String(capabilityReason),
		Description: optional(t.Description), Parameters: []types.TemplateParameter{},
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		p := t.Parameters[name]
		out.Parameters = append(out.Parameters, types.TemplateParameter{
			ParameterKey: aws.String(name), DefaultValue: p.Default, Description: optional(p.Description), NoEcho: aws.Bool(p.NoEcho),
		})
	}
	return out, nil
}
