package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

// extraction follows the shapes of one API from its operations.
type extraction struct {
	src   *source
	table *spelling.Table
	names map[string]spelling.Name // as found, by Type.Field
	lists map[string]bool
	done  map[*ast.FuncDecl]bool
}

var protocols = map[string]spelling.Protocol{
	"awsEc2query_":  spelling.EC2Query,
	"awsAwsquery_":  spelling.Query,
	"awsRestjson1_": spelling.RESTJSON,
	"awsAwsjson11_": spelling.JSON11,
	"awsRestxml_":   spelling.RESTXML,
}

// extract reads the table of the operations from the SDK's source. Whatever it
// does not understand is an error, so that no shape is covered half.
func extract(src *source, operations []string) (*spelling.Table, error) {
	protocol, ok := protocols[src.prefix]
	if !ok {
		return nil, fmt.Errorf("protocol %q is not understood", src.prefix)
	}
	e := &extraction{
		src:   src,
		table: &spelling.Table{Protocol: protocol, Operations: map[string]spelling.Binding{}, Names: map[string]spelling.Name{}},
		names: map[string]spelling.Name{},
		lists: map[string]bool{},
		done:  map[*ast.FuncDecl]bool{},
	}
	if operations == nil {
		operations = src.operations()
	}
	for _, op := range slices.Sorted(slices.Values(operations)) {
		if err := e.operation(op); err != nil {
			return nil, fmt.Errorf("operation %s: %w", op, err)
		}
	}
	e.keepDifferences()
	return e.table, nil
}

func (e *extraction) operation(op string) error {
	handle, ok := e.src.handles["serializeOp"+op]
	if !ok {
		return fmt.Errorf("the SDK has no such operation")
	}
	binding, version, err := e.binding(op, handle)
	if err != nil {
		return err
	}
	if e.table.Version == "" {
		e.table.Version = version
	}
	if e.table.Version != version {
		return fmt.Errorf("version %q beside %q", version, e.table.Version)
	}
	if e.table.Protocol == spelling.RESTXML {
		if err := e.restXMLAnswer(op, e.src.handles["deserializeOp"+op], &binding); err != nil {
			return err
		}
		e.table.Operations[op] = binding
		return nil
	}
	e.table.Operations[op] = binding

	if fn := e.src.funcs["serializeOpDocument"+op+"Input"]; fn != nil {
		if err := e.request(fn); err != nil {
			return err
		}
	}
	answer := e.src.handles["deserializeOp"+op]
	if e.table.Protocol == spelling.Query {
		if args, ok := call(answer, "GetElement"); ok && args[0] != op+"Result" {
			return fmt.Errorf("result element %q is not understood", args[0])
		}
	}
	if e.src.funcs["deserializeOpHttpBindings"+op+"Output"] != nil {
		return fmt.Errorf("response headers are not understood")
	}
	if fn := e.src.funcs["deserializeOpDocument"+op+"Output"]; fn != nil {
		return e.response(fn)
	}
	return nil
}

// binding reads where the request goes: method, path and query for REST, and
// otherwise the version that tells APIs apart.
func (e *extraction) binding(op string, handle *ast.FuncDecl) (b spelling.Binding, version string, err error) {
	switch e.table.Protocol {
	case spelling.RESTXML:
		b, err = e.restXMLBinding(op, handle)
		return b, "", err
	case spelling.JSON11:
		ast.Inspect(handle, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && len(c.Args) == 1 {
				if before, after, ok := strings.Cut(literal(c.Args[0]), "."); ok && after == op {
					version = before
				}
			}
			return true
		})
		return b, version, nil
	case spelling.Query, spelling.EC2Query:
		ast.Inspect(handle, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := c.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "String" {
				if args, ok := call(sel.X, "Key"); ok && args[0] == "Version" {
					version = literal(c.Args[0])
				}
			}
			return true
		})
		return b, version, nil
	}

	uri, ok := call(handle, "SplitURI")
	if !ok || strings.Contains(uri[0], "?") || strings.Contains(uri[0], "+}") {
		return b, "", fmt.Errorf("path %q is not understood", uri)
	}
	b.URI, b.Method = uri[0], method(handle)
	bindings := e.src.funcs["serializeOpHttpBindings"+op+"Input"]
	if bindings == nil {
		return b, "", nil
	}
	if _, ok := call(bindings, "SetHeader"); ok {
		return b, "", fmt.Errorf("request headers are not understood")
	}
	for _, stmt := range bindings.Body.List {
		for _, way := range []string{"SetURI", "SetQuery", "AddQuery"} {
			args, ok := call(stmt, way)
			if !ok {
				continue
			}
			if err := e.record(op+"Input", member(stmt, "v"), spelling.Name{In: args[0]}, way == "AddQuery"); err != nil {
				return b, "", err
			}
			if way != "SetURI" {
				b.Query = append(b.Query, args[0])
			}
		}
	}
	return b, "", nil
}

// request follows a function that writes a shape into a request.
func (e *extraction) request(fn *ast.FuncDecl) error {
	sh, err := e.enter(fn)
	if err != nil || sh == nil {
		return err
	}
	if sh.list || sh.dic {
		return e.requestChild(fn)
	}
	for _, stmt := range fn.Body.List {
		key, flat := "", false
		if args, ok := call(stmt, "FlatKey"); ok {
			key, flat = args[0], true
		} else if args, ok := call(stmt, "Key"); ok {
			key = args[0]
		}
		if key == "" {
			continue
		}
		name := spelling.Name{In: key}
		child, list := e.src.callee(stmt), false
		if child != nil {
			childShape, err := shapeOf(child)
			if err != nil {
				return err
			}
			list = childShape.list
			if args, ok := call(child, "Array"); ok && list && e.table.Protocol == spelling.Query {
				name.Item = args[0]
			}
		}
		if flat != (list && e.table.Protocol == spelling.EC2Query) {
			return fmt.Errorf("%s: member %s: a flattened list is not understood here", fn.Name.Name, key)
		}
		if err := e.record(sh.name, member(stmt, "v"), name, list); err != nil {
			return err
		}
		if err := e.requestChild(stmt); err != nil {
			return err
		}
	}
	return nil
}

func (e *extraction) requestChild(node ast.Node) error {
	fn := e.src.callee(node)
	switch {
	case fn == nil || isUnion(fn):
		return nil
	case e.table.Protocol == spelling.RESTXML:
		return e.xmlRequest(fn)
	default:
		return e.request(fn)
	}
}

// response follows a function that reads a shape from a response.
func (e *extraction) response(fn *ast.FuncDecl) error {
	sh, err := e.enter(fn)
	if err != nil || sh == nil {
		return err
	}
	if isUnion(fn) {
		return nil
	}
	if strings.HasSuffix(fn.Name.Name, "Unwrapped") {
		if sh.dic {
			return nil // the entry of a map, read by its own function in XML
		}
		if e.table.Protocol != spelling.RESTXML {
			return fmt.Errorf("%s: a flattened list is not understood", fn.Name.Name)
		}
	}
	if sh.list || sh.dic {
		if child := e.src.callee(fn.Body); child != nil {
			return e.response(child)
		}
		return nil
	}
	var failed error
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		clause, ok := n.(*ast.CaseClause)
		if !ok || failed != nil {
			return failed == nil
		}
		key := caseName(clause)
		if key == "" {
			return true
		}
		failed = e.responseMember(sh.name, key, clause)
		return false
	})
	return failed
}

func (e *extraction) responseMember(structName, key string, clause *ast.CaseClause) error {
	name := spelling.Name{Out: key, Attr: strings.Contains(key, ":")}
	body := &ast.BlockStmt{List: clause.Body}
	child, list := e.src.callee(body), false
	if child != nil {
		sh, err := shapeOf(child)
		if err != nil {
			return err
		}
		list = sh.list
		name.Flat = list && strings.HasSuffix(child.Name.Name, "Unwrapped")
		if args, ok := call(child, "EqualFold"); ok && list && !name.Flat {
			name.Item = args[0]
		}
		if err := e.response(child); err != nil {
			return err
		}
	}
	return e.record(structName, member(body, "sv"), name, list)
}

// caseName is the wire name a decoder's case is for.
func caseName(clause *ast.CaseClause) string {
	if len(clause.List) != 1 {
		return ""
	}
	if lit := literal(clause.List[0]); lit != "" {
		return lit
	}
	if args, ok := call(clause.List[0], "EqualFold"); ok {
		return args[0]
	}
	return ""
}

// enter returns the shape of a function met for the first time, nil otherwise,
// and checks that times are written the way the codec writes them.
func (e *extraction) enter(fn *ast.FuncDecl) (*shape, error) {
	if e.done[fn] {
		return nil, nil
	}
	e.done[fn] = true
	refused := []string{"ParseEpochSeconds", "FormatEpochSeconds"}
	if e.table.Protocol == spelling.RESTJSON || e.table.Protocol == spelling.JSON11 {
		refused = []string{"ParseDateTime", "FormatDateTime"}
	}
	if e.table.Protocol != spelling.RESTXML {
		refused = append(refused, "ParseHTTPDate", "FormatHTTPDate")
	}
	for _, name := range refused {
		if _, ok := call(fn, name); ok {
			return nil, fmt.Errorf("%s: time format %s is not understood", fn.Name.Name, name)
		}
	}
	sh, err := shapeOf(fn)
	return &sh, err
}

// record notes what is known of a field, and refuses a contradiction.
func (e *extraction) record(structName, field string, name spelling.Name, list bool) error {
	if field == "" {
		return fmt.Errorf("%s: the field of %+v was not found", structName, name)
	}
	key := structName + "." + field
	known := e.names[key]
	for _, part := range []struct{ have, found *string }{
		{&known.In, &name.In}, {&known.Out, &name.Out}, {&known.Item, &name.Item},
	} {
		if *part.have != "" && *part.found != "" && *part.have != *part.found {
			return fmt.Errorf("%s is spelled both %q and %q", key, *part.have, *part.found)
		}
		if *part.found != "" {
			*part.have = *part.found
		}
	}
	known.Flat, known.Attr, known.HTTPDate = known.Flat || name.Flat, known.Attr || name.Attr, known.HTTPDate || name.HTTPDate
	e.names[key] = known
	e.lists[key] = e.lists[key] || list
	return nil
}

func (e *extraction) keepDifferences() {
	for key, name := range e.names {
		_, field, _ := strings.Cut(key, ".")
		usual := spelling.Default(e.table.Protocol, field, e.lists[key])
		if name.In == usual.In {
			name.In = ""
		}
		if name.Out == usual.Out {
			name.Out = ""
		}
		if name.Item == usual.Item {
			name.Item = ""
		}
		if name != (spelling.Name{}) {
			e.table.Names[key] = name
		}
	}
}
