package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// source is the SDK's generated encoding of one API. Each function in it
// encodes or decodes one shape, member by member, which is where the wire names
// are; its name begins with the protocol's, as in awsEc2query_serializeDocumentTag.
type source struct {
	prefix    string                   // with the underscore
	funcs     map[string]*ast.FuncDecl // by name without the prefix
	handles   map[string]*ast.FuncDecl // HandleSerialize and HandleDeserialize by receiver without the prefix
	validates map[string]*ast.FuncDecl // what refuses inputs that lack required members, by name
}

func readSource(dir string) (*source, error) {
	src := &source{funcs: map[string]*ast.FuncDecl{}, handles: map[string]*ast.FuncDecl{}, validates: map[string]*ast.FuncDecl{}}
	for _, file := range []string{"serializers.go", "deserializers.go", "validators.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read the SDK's encoding: %w", err)
		}
		for _, decl := range parsed.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				src.add(fn)
			}
		}
	}
	if src.prefix == "" {
		return nil, fmt.Errorf("read the SDK's encoding: no function of a known protocol in %s", dir)
	}
	return src, nil
}

func (s *source) add(fn *ast.FuncDecl) {
	if fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "validate") {
		s.validates[fn.Name.Name] = fn
		return
	}
	if fn.Recv == nil {
		if prefix, rest, ok := strings.Cut(fn.Name.Name, "_"); ok {
			s.prefix = prefix + "_"
			s.funcs[rest] = fn
		}
		return
	}
	if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok && strings.HasPrefix(fn.Name.Name, "Handle") {
		if _, rest, ok := strings.Cut(star.X.(*ast.Ident).Name, "_"); ok {
			s.handles[rest] = fn
		}
	}
}

// operations lists every operation of the API, in the source's spelling.
func (s *source) operations() []string {
	var all []string
	for name := range s.handles {
		if op, ok := strings.CutPrefix(name, "serializeOp"); ok {
			all = append(all, op)
		}
	}
	return all
}

// shape is what a function's first parameter points at.
type shape struct {
	name      string // of a struct
	list, dic bool
}

func shapeOf(fn *ast.FuncDecl) (shape, error) {
	typ := fn.Type.Params.List[0].Type
	for {
		star, ok := typ.(*ast.StarExpr)
		if !ok {
			break
		}
		typ = star.X
	}
	switch t := typ.(type) {
	case *ast.Ident:
		return shape{name: t.Name}, nil
	case *ast.SelectorExpr:
		return shape{name: t.Sel.Name}, nil
	case *ast.ArrayType:
		return shape{list: true}, nil
	case *ast.MapType:
		return shape{dic: true}, nil
	}
	return shape{}, fmt.Errorf("%s: shape of type %T is not understood", fn.Name.Name, typ)
}

// call returns the arguments, as literals, of the first call to a method or
// function of that name below node; those that are no literals are "".
func call(node ast.Node, name string) (args []string, ok bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		expr, isCall := n.(*ast.CallExpr)
		if ok || !isCall {
			return !ok
		}
		sel, isSel := expr.Fun.(*ast.SelectorExpr)
		if !isSel || sel.Sel.Name != name {
			return true
		}
		for _, arg := range expr.Args {
			args = append(args, literal(arg))
		}
		ok = true
		return false
	})
	return args, ok
}

// member returns the field selected from the variable below node.
func member(node ast.Node, variable string) string {
	var field string
	ast.Inspect(node, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && field == "" {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == variable {
				field = sel.Sel.Name
			}
		}
		return field == ""
	})
	return field
}

// callee returns the function of the same protocol that is called below node.
func (s *source) callee(node ast.Node) *ast.FuncDecl {
	var found *ast.FuncDecl
	ast.Inspect(node, func(n ast.Node) bool {
		if expr, ok := n.(*ast.CallExpr); ok {
			if id, ok := expr.Fun.(*ast.Ident); ok {
				if rest, ok := strings.CutPrefix(id.Name, s.prefix); ok {
					found = s.funcs[rest]
				}
			}
		}
		return found == nil
	})
	return found
}

func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return text
}
