package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/krops-go/krops/internal/rehearsal/awssim/wire/spelling"
)

// restXMLBinding reads where a request goes and what it carries outside its
// body, and follows the body.
func (e *extraction) restXMLBinding(op string, handle *ast.FuncDecl) (b spelling.Binding, err error) {
	uri, ok := call(handle, "SplitURI")
	if !ok {
		return b, fmt.Errorf("it has no path")
	}
	b.URI, b.Method = uri[0], method(handle)
	wires := map[string]string{} // wire names by field
	if bindings := e.src.funcs["serializeOpHttpBindings"+op+"Input"]; bindings != nil {
		for _, stmt := range bindings.Body.List {
			if err := e.requestBinding(op, stmt, &b, wires); err != nil {
				return b, err
			}
		}
	}
	for _, field := range required(e.src.validates["validateOp"+op+"Input"]) {
		b.Bucket = b.Bucket || field == "Bucket"
		if wire := wires[field]; wire != "" {
			b.Required = append(b.Required, wire)
		}
	}
	if e.src.funcs["serializeOpDocument"+op+"Input"] != nil {
		return b, fmt.Errorf("a body made of several fields is not understood")
	}
	for _, stmt := range handle.Body.List {
		branch, ok := stmt.(*ast.IfStmt)
		if !ok {
			continue
		}
		if _, sets := call(branch.Body, "SetStream"); !sets {
			continue
		}
		b.Payload = member(branch.Cond, "input")
		if err := e.requestChild(branch.Body); err != nil {
			return b, err
		}
	}
	return b, nil
}

// requestBinding reads one statement that puts a field into path, query or headers.
func (e *extraction) requestBinding(op string, stmt ast.Stmt, b *spelling.Binding, wires map[string]string) error {
	for _, way := range []string{"SetURI", "SetQuery", "AddQuery", "SetHeader", "AddHeader"} {
		args, ok := call(stmt, way)
		if !ok {
			continue
		}
		name := spelling.Name{In: args[0]}
		header := strings.HasSuffix(way, "Header")
		if prefix, isMap := call(stmt, "Headers"); isMap && header {
			name.In = prefix[0]
		} else if header {
			name.In = assigned(stmt, "locationName")
		}
		if name.In == "" {
			return fmt.Errorf("a header's name was not found")
		}
		_, name.HTTPDate = call(stmt, "FormatHTTPDate")
		field := member(stmt, "v")
		if err := e.record(op+"Input", field, name, strings.HasPrefix(way, "Add")); err != nil {
			return err
		}
		switch {
		case header:
			b.Headers = append(b.Headers, name.In)
			wires[field] = name.In
		case way != "SetURI":
			b.Query = append(b.Query, name.In)
			wires[field] = name.In
		}
		return nil
	}
	return nil
}

// restXMLAnswer reads the headers of an answer and follows its body.
func (e *extraction) restXMLAnswer(op string, handle *ast.FuncDecl, b *spelling.Binding) error {
	if bindings := e.src.funcs["deserializeOpHttpBindings"+op+"Output"]; bindings != nil {
		for _, stmt := range bindings.Body.List {
			if err := e.answerHeader(op, stmt, b); err != nil {
				return err
			}
		}
	}
	var failed error
	ast.Inspect(handle, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || failed != nil {
			return failed == nil
		}
		id, ok := c.Fun.(*ast.Ident)
		if !ok || !strings.HasPrefix(id.Name, e.src.prefix+"deserializeDocument") {
			return true
		}
		b.OutPayload = member(c, "output")
		failed = e.response(e.src.funcs[strings.TrimPrefix(id.Name, e.src.prefix)])
		return false
	})
	fn := e.src.funcs["deserializeOpDocument"+op+"Output"]
	switch {
	case failed != nil, b.OutPayload != "", fn == nil:
		return failed
	case takesBody(fn):
		b.OutPayload = member(fn.Body, "v")
		return nil
	}
	return e.response(fn)
}

func (e *extraction) answerHeader(op string, stmt ast.Stmt, b *spelling.Binding) error {
	var name spelling.Name
	if args, ok := call(stmt, "Values"); ok {
		name.Out = args[0]
	} else if loop, ok := stmt.(*ast.RangeStmt); ok {
		args, _ := call(loop, "EqualFold")
		name.Out = args[1]
	} else {
		return nil
	}
	_, name.HTTPDate = call(stmt, "ParseHTTPDate")
	ast.Inspect(stmt, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "deserializeS3Expires" {
			name.HTTPDate = true
		}
		return true
	})
	if !slices.Contains(b.OutHeaders, name.Out) {
		b.OutHeaders = append(b.OutHeaders, name.Out)
	}
	return e.record(op+"Output", member(stmt, "v"), name, false)
}

// xmlRequest follows a function that writes a shape as XML.
func (e *extraction) xmlRequest(fn *ast.FuncDecl) error {
	sh, err := e.enter(fn)
	if err != nil || sh == nil {
		return err
	}
	if sh.list || sh.dic {
		return e.requestChild(fn)
	}
	for _, stmt := range fn.Body.List {
		element := local(stmt)
		if element == "" || member(stmt, "v") == "" {
			continue
		}
		name := spelling.Name{In: element}
		_, name.Flat = call(stmt, "FlattenedElement")
		_, name.HTTPDate = call(stmt, "FormatHTTPDate")
		child, list := e.src.callee(stmt), false
		if child != nil {
			childShape, err := shapeOf(child)
			if err != nil {
				return err
			}
			list = childShape.list
			if _, custom := call(child, "ArrayWithCustomName"); custom && list && !name.Flat {
				name.Item = local(child)
			}
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

// method returns the literal that is assigned to the request's Method.
func method(handle *ast.FuncDecl) string {
	for _, stmt := range handle.Body.List {
		if assign, ok := stmt.(*ast.AssignStmt); ok {
			if sel, ok := assign.Lhs[0].(*ast.SelectorExpr); ok && sel.Sel.Name == "Method" {
				return literal(assign.Rhs[0])
			}
		}
	}
	return ""
}

// required lists the fields that a validating function insists on.
func required(fn *ast.FuncDecl) []string {
	if fn == nil {
		return nil
	}
	var fields []string
	for _, stmt := range fn.Body.List {
		if args, ok := call(stmt, "NewErrParamRequired"); ok {
			fields = append(fields, args[0])
		}
	}
	return fields
}

// assigned returns the literal that is given to a variable below node.
func assigned(node ast.Node, variable string) string {
	var found string
	ast.Inspect(node, func(n ast.Node) bool {
		if assign, ok := n.(*ast.AssignStmt); ok && found == "" {
			if id, ok := assign.Lhs[0].(*ast.Ident); ok && id.Name == variable {
				found = literal(assign.Rhs[0])
			}
		}
		return found == ""
	})
	return found
}

// local returns the first element name that is written down below node.
func local(node ast.Node) string {
	var found string
	ast.Inspect(node, func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok && found == "" {
			if id, ok := pair.Key.(*ast.Ident); ok && id.Name == "Local" {
				found = literal(pair.Value)
			}
		}
		return found == ""
	})
	return found
}

// takesBody reports a function that takes the answer's body as it is.
func takesBody(fn *ast.FuncDecl) bool {
	sel, ok := fn.Type.Params.List[1].Type.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "ReadCloser"
}

// isUnion reports a function for a shape of which one member is set. Unions
// are interfaces in the SDK and are not covered.
func isUnion(fn *ast.FuncDecl) bool {
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "uv" {
			found = true
		}
		return !found
	})
	return found
}
