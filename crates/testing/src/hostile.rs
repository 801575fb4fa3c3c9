//! Arithmetic as hostile as WGSL allows: rewrites the programs of a device, so that a software adapter computes as a careless GPU may.
//!
//! The rewritten program divides with errors of up to 2.5 units in the last place, takes square roots with errors of up to 3.5 or 4.5,
//! fuses some products with sums and not others, may flush subnormal results, and processes its workgroups in another order. A seed
//! chooses all of it, differently in each pipeline. Sources: the accuracy of expressions in the WGSL specification, where a square root is
//! that of `1 / inverseSqrt(x)`.
//!
//! Each call of a small function is fused in its own way, as if it were inlined. A product and a sum in two functions are never fused, which
//! a driver could do. It cannot fuse through the integer XOR of `opaque`, and neither does this.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

use umbracast::ShaderEdit;
use umbracast::wgpu::naga;

use naga::{Arena, BinaryOperator, Block, Expression, Function, Handle, MathFunction, Module, Statement, TypeInner};

/// The environment variable with the seed of [`devices`](crate::devices), for a child process that runs other tests.
pub const SEED: &str = "UMBRACAST_TEST_HOSTILE";

/// The errors that [`SEED`] chooses, if it is set.
pub fn from_environment() -> Option<Hostile> {
    let seed = std::env::var(SEED).ok()?;
    Some(Hostile::new(seed.parse().unwrap_or_else(|_| panic!("{SEED} is {seed:?}: it must be a number"))))
}

/// Which errors a device makes.
#[derive(Clone, Copy, Debug)]
pub struct Hostile {
    pub seed: u64,
    /// Largest steps of a quotient and of a root from the rounded result, in units in the last place.
    pub quotient_steps: u32,
    pub root_steps: u32,
    /// Whether some products are fused with sums.
    pub fuses: bool,
    /// Whether subnormal results are 0.
    pub flushes: bool,
    /// Whether workgroups are processed in another order.
    pub shuffles: bool,
}

impl Hostile {
    /// All errors at once. Seeds alternate between the largest errors of roots, and between devices that flush and that do not.
    pub fn new(seed: u64) -> Self {
        let root_steps = if seed.is_multiple_of(2) { 3 } else { 4 };
        Self { seed, quotient_steps: 2, root_steps, fuses: true, flushes: seed / 2 % 2 == 1, shuffles: true }
    }

    /// The rewriting of programs, for `Device::open_edited`.
    pub fn edit(self) -> ShaderEdit {
        ShaderEdit::Module(Arc::new(move |pipeline, source| self.rewrite(pipeline, source)))
    }

    fn rewrite(self, pipeline: &str, source: &str) -> Module {
        // FNV-1a, so that each pipeline has random numbers of its own.
        let mut own = self.seed ^ 0xcbf2_9ce4_8422_2325;
        for byte in pipeline.bytes() {
            own = (own ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        let parse = |source: &str| {
            naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{pipeline}: {}", e.emit_to_string(source)))
        };
        let size = parse(source).entry_points[0].workgroup_size;
        let mut module = parse(&(self.helpers(size, own as u32) + source));
        let info = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all())
            .subgroup_stages(naga::valid::ShaderStages::COMPUTE)
            .subgroup_operations(naga::valid::SubgroupOperationSet::all())
            .validate(&module)
            .unwrap_or_else(|e| panic!("{pipeline}: {e:?}"));
        let helpers: Vec<_> = module
            .functions
            .iter()
            .filter_map(|(handle, function)| Some((function.name.clone()?, handle)))
            .filter(|(name, _)| name.starts_with(PREFIX))
            .collect();
        let mut compiler = Compiler {
            hostile: self,
            types: &module.types,
            info: &info,
            helpers: &helpers,
            functions: &module.functions,
            copied: HashSet::new(),
            numbers: crate::Numbers(own),
            made: Arena::new(),
            known: HashMap::new(),
        };
        for (handle, function) in module.functions.iter() {
            if helpers.iter().any(|(_, helper)| *helper == handle) {
                let made = compiler.made.append(function.clone(), naga::Span::default());
                compiler.known.insert(handle, made);
            } else if compiler.is_copied(function) {
                compiler.copied.insert(handle);
            } else {
                let made = compiler.make(handle);
                compiler.known.insert(handle, made);
            }
        }
        let entry = &mut module.entry_points[0].function;
        compiler.rewrite(entry, info.get_entry_point(0));
        let Compiler { made, known, .. } = compiler;
        let find = |name: &str| known[&helpers.iter().find(|(own, _)| own[PREFIX.len()..] == *name).unwrap().1];
        begin(entry, made[find("begin")].arguments[0].ty, &find, self.shuffles);
        module.functions = made;
        module
    }

    /// The helper for a sum, difference or product, with its operands: one that fuses, or one that flushes.
    fn sum_or_product(
        self,
        function: &Function,
        op: BinaryOperator,
        [left, right]: [Handle<Expression>; 2],
        numbers: &mut crate::Numbers,
    ) -> Option<(&'static str, Vec<Handle<Expression>>)> {
        let plain = match op {
            BinaryOperator::Add => "add",
            BinaryOperator::Subtract => "subtract",
            BinaryOperator::Multiply => "multiply",
            _ => return None,
        };
        if self.fuses && op != BinaryOperator::Multiply {
            let choices = [(product(function, left), right, true), (product(function, right), left, false)];
            let choices: Vec<_> =
                choices.iter().filter_map(|(p, other, first)| Some((((*p)?), *other, *first))).collect();
            if !choices.is_empty() && numbers.unit() < 0.5 {
                let ([a, b], c, first) = choices[(numbers.unit() * choices.len() as f32) as usize % choices.len()];
                let name = match (op, first) {
                    (BinaryOperator::Add, _) => "fuse",
                    (_, true) => "fuse_less",
                    (_, false) => "fuse_from",
                };
                return Some((name, vec![a, b, c]));
            }
        }
        self.flushes.then(|| (plain, vec![left, right]))
    }

    /// WGSL of the helpers.
    fn helpers(self, size: [u32; 3], seed: u32) -> String {
        let flushed = |x: &str| match self.flushes {
            true => format!("select({x}, bitcast<f32>(bitcast<u32>({x}) & 0x80000000u), abs({x}) < 1.17549435e-38)"),
            false => x.to_owned(),
        };
        let [x, y, z] = size;
        let result = flushed("result");
        let mut text = format!(
            "
            var<private> hostile_zero: u32;

            fn hostile_begin(groups: vec3<u32>) {{
              hostile_zero = select(0u, 1u, groups.x == 0u);
            }}

            fn hostile_shuffled(i: u32, n: u32) -> u32 {{
              var factor = 7u;
              if (n % 7u == 0u) {{ factor = 11u; }}
              if (n % 7u == 0u && n % 11u == 0u) {{ factor = 1u; }}
              return (i * factor + {seed}u % n) % n;
            }}

            fn hostile_group(i: vec3<u32>, n: vec3<u32>) -> vec3<u32> {{
              return vec3<u32>(hostile_shuffled(i.x, n.x), hostile_shuffled(i.y, n.y), hostile_shuffled(i.z, n.z));
            }}

            fn hostile_invocation(i: vec3<u32>, n: vec3<u32>) -> vec3<u32> {{
              let size = vec3<u32>({x}u, {y}u, {z}u);
              return hostile_group(i / size, n) * size + i % size;
            }}

            fn hostile_opaque(x: f32) -> f32 {{
              return bitcast<f32>(bitcast<u32>(x) ^ hostile_zero);
            }}

            fn hostile_stepped(x: f32, a: f32, b: f32, largest: u32) -> f32 {{
              let bits = bitcast<u32>(x);
              let exponent = (bits >> 23u) & 0xffu;
              var h = (bitcast<u32>(a) * 0x9e3779b1u) ^ (bitcast<u32>(b) * 0x85ebca6bu) ^ {seed}u;
              h = (h ^ (h >> 15u)) * 0x2c1b3c6du;
              h = (h ^ (h >> 12u)) * 0x297a2d39u;
              h = h ^ (h >> 15u);
              let stepped = bits + h % (2u * largest + 1u) - largest;
              let result = bitcast<f32>(select(bits, stepped, exponent > 1u && exponent < 254u));
              return {result};
            }}

            fn hostile_divide_11(a: f32, b: f32) -> f32 {{
              return hostile_stepped(a / b, a, b, {quotient}u);
            }}

            fn hostile_root_1(a: f32) -> f32 {{
              return hostile_stepped(sqrt(a), a, 1.0, {root}u);
            }}

            fn hostile_high_half(a: f32) -> f32 {{
              return bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
            }}

            fn hostile_fuse_111(a: f32, b: f32, c: f32) -> f32 {{
              let p = hostile_opaque(a * b);
              var result = p + c;
              if (abs(p) > 1e-20 && abs(p) < 1e30 && abs(c) < 1e30) {{
                let ah = hostile_high_half(a);
                let bh = hostile_high_half(b);
                let al = a - ah;
                let bl = b - bh;
                let e1 = hostile_opaque(ah * bh - p);
                let e2 = hostile_opaque(e1 + ah * bl);
                let e3 = hostile_opaque(e2 + al * bh);
                let error = hostile_opaque(e3 + al * bl);
                let s = hostile_opaque(p + c);
                let cc = hostile_opaque(s - p);
                let pp = hostile_opaque(s - cc);
                let rest = hostile_opaque(p - pp) + hostile_opaque(c - cc);
                result = s + hostile_opaque(rest + error);
              }}
              return {result};
            }}

            fn hostile_add_11(a: f32, b: f32) -> f32 {{ let result = a + b; return {result}; }}
            fn hostile_subtract_11(a: f32, b: f32) -> f32 {{ let result = a - b; return {result}; }}
            fn hostile_multiply_11(a: f32, b: f32) -> f32 {{ let result = a * b; return {result}; }}
            fn hostile_fuse_less_111(a: f32, b: f32, c: f32) -> f32 {{ return hostile_fuse_111(a, b, -c); }}
            fn hostile_fuse_from_111(a: f32, b: f32, c: f32) -> f32 {{ return hostile_fuse_111(-a, b, c); }}
            ",
            quotient = self.quotient_steps,
            root = self.root_steps,
        );
        for n in 2..=4 {
            for (name, widths) in [
                ("divide", vec![n, n]),
                ("root", vec![n]),
                ("add", vec![n, n]),
                ("subtract", vec![n, n]),
                ("multiply", vec![n, n]),
                ("multiply", vec![1, n]),
                ("multiply", vec![n, 1]),
                ("fuse", vec![n, n, n]),
                ("fuse", vec![1, n, n]),
                ("fuse", vec![n, 1, n]),
                ("fuse_less", vec![n, n, n]),
                ("fuse_less", vec![1, n, n]),
                ("fuse_less", vec![n, 1, n]),
                ("fuse_from", vec![n, n, n]),
                ("fuse_from", vec![1, n, n]),
                ("fuse_from", vec![n, 1, n]),
            ] {
                vector_helper(&mut text, name, n, &widths);
            }
        }
        text
    }
}

/// Begins the names of the helpers.
const PREFIX: &str = "hostile_";

/// A helper for vectors, which calls the helper for numbers. `widths` are those of its arguments; 1 is a number.
fn vector_helper(text: &mut String, name: &str, n: u32, widths: &[u32]) {
    let digits: String = widths.iter().map(u32::to_string).collect();
    let ones = "1".repeat(widths.len());
    let letters = ["a", "b", "c"];
    let ty = |w: u32| if w == 1 { "f32".to_owned() } else { format!("vec{w}<f32>") };
    let arguments: Vec<_> = widths.iter().zip(letters).map(|(w, letter)| format!("{letter}: {}", ty(*w))).collect();
    let component = |c: char| {
        let own = |(w, letter): (&u32, &str)| if *w == 1 { letter.to_owned() } else { format!("{letter}.{c}") };
        let values: Vec<_> = widths.iter().zip(letters).map(own).collect();
        format!("{PREFIX}{name}_{ones}({})", values.join(", "))
    };
    let components: Vec<_> = "xyzw".chars().take(n as usize).map(component).collect();
    let (arguments, ty, components) = (arguments.join(", "), ty(n), components.join(", "));
    writeln!(text, "fn {PREFIX}{name}_{digits}({arguments}) -> {ty} {{ return {ty}({components}); }}").unwrap();
}

/// Makes the functions of a hostile module.
struct Compiler<'a> {
    hostile: Hostile,
    types: &'a naga::UniqueArena<naga::Type>,
    info: &'a naga::valid::ModuleInfo,
    helpers: &'a [(String, Handle<Function>)],
    functions: &'a Arena<Function>,
    /// Functions without branches that have sums of products: each call has a copy of its own, because a driver inlines them and fuses
    /// each copy in its own way.
    copied: HashSet<Handle<Function>>,
    numbers: crate::Numbers,
    made: Arena<Function>,
    /// The new handles of the functions that are not copied.
    known: HashMap<Handle<Function>, Handle<Function>>,
}

impl Compiler<'_> {
    fn is_copied(&self, function: &Function) -> bool {
        let mut calls = false;
        let straight = function.body.iter().all(|statement| match statement {
            Statement::Call { function, .. } => {
                calls |= self.copied.contains(function);
                true
            }
            Statement::Emit(_) | Statement::Store { .. } | Statement::Return { .. } => true,
            _ => false,
        });
        let sums = || {
            function.expressions.iter().any(|(_, expression)| match *expression {
                Expression::Binary { op: BinaryOperator::Add | BinaryOperator::Subtract, left, right } => {
                    product(function, left).or(product(function, right)).is_some()
                }
                _ => false,
            })
        };
        straight && (calls || sums())
    }

    /// Appends a new version of a function.
    fn make(&mut self, handle: Handle<Function>) -> Handle<Function> {
        let mut function = self.functions[handle].clone();
        self.rewrite(&mut function, &self.info[handle]);
        self.made.append(function, naga::Span::default())
    }

    /// Replaces operations by calls of helpers, and functions by their new versions.
    fn rewrite(&mut self, function: &mut Function, info: &naga::valid::FunctionInfo) {
        let mut body = std::mem::take(&mut function.body);
        self.relink(&mut body, &mut function.expressions);
        let width = |e: Handle<Expression>| match *info[e].ty.inner_with(self.types) {
            TypeInner::Scalar(naga::Scalar::F32) => Some(1),
            TypeInner::Vector { size, scalar: naga::Scalar::F32 } => Some(size as u32),
            _ => None,
        };
        let mut calls = Vec::new();
        for (handle, expression) in function.expressions.iter().filter(|(handle, _)| width(*handle).is_some()) {
            let call = match *expression {
                Expression::Binary { op: BinaryOperator::Divide, left, right } => Some(("divide", vec![left, right])),
                Expression::Math { fun: MathFunction::Sqrt, arg, .. } => Some(("root", vec![arg])),
                Expression::Binary { op, left, right } => {
                    self.hostile.sum_or_product(function, op, [left, right], &mut self.numbers)
                }
                _ => None,
            };
            if let Some((name, arguments)) = call {
                let widths: String = arguments.iter().map(|a| width(*a).unwrap().to_string()).collect();
                let name = format!("{PREFIX}{name}_{widths}");
                let helper = self.helpers.iter().find(|(own, _)| *own == name).unwrap().1;
                calls.push((handle, self.known[&helper], arguments));
            }
        }
        for (handle, helper, _) in &calls {
            function.expressions[*handle] = Expression::CallResult(*helper);
        }
        split(&mut body, &calls);
        function.body = body;
    }

    /// Calls the new versions of functions.
    fn relink(&mut self, block: &mut Block, expressions: &mut Arena<Expression>) {
        for statement in block.iter_mut() {
            match statement {
                Statement::Call { function, result, .. } => {
                    *function = match self.known.get(function) {
                        Some(known) => *known,
                        None => self.make(*function),
                    };
                    if let Some(result) = result {
                        expressions[*result] = Expression::CallResult(*function);
                    }
                }
                other => blocks(other).into_iter().for_each(|inner| self.relink(inner, expressions)),
            }
        }
    }
}

/// The operands of a product.
fn product(function: &Function, e: Handle<Expression>) -> Option<[Handle<Expression>; 2]> {
    match function.expressions[e] {
        Expression::Binary { op: BinaryOperator::Multiply, left, right } => Some([left, right]),
        _ => None,
    }
}

/// The blocks of a statement.
fn blocks(statement: &mut Statement) -> Vec<&mut Block> {
    match statement {
        Statement::Block(inner) => vec![inner],
        Statement::If { accept, reject, .. } => vec![accept, reject],
        Statement::Switch { cases, .. } => cases.iter_mut().map(|case| &mut case.body).collect(),
        Statement::Loop { body, continuing, .. } => vec![body, continuing],
        _ => Vec::new(),
    }
}

/// An expression that became the result of a call, the helper that is called, and the arguments.
type Call = (Handle<Expression>, Handle<Function>, Vec<Handle<Expression>>);

/// Calls the helpers where the expressions were computed. `calls` is in ascending order.
fn split(block: &mut Block, calls: &[Call]) {
    let mut rebuilt = Block::new();
    for (mut statement, span) in std::mem::take(block).span_into_iter() {
        match &mut statement {
            Statement::Emit(range) => {
                let mut first = None;
                for handle in range.clone() {
                    if let Ok(at) = calls.binary_search_by_key(&handle, |call| call.0) {
                        if let Some((from, to)) = first.take() {
                            rebuilt.push(Statement::Emit(naga::Range::new_from_bounds(from, to)), span);
                        }
                        let (_, function, arguments) = calls[at].clone();
                        rebuilt.push(Statement::Call { function, arguments, result: Some(handle) }, span);
                    } else {
                        first = Some((first.map_or(handle, |(from, _)| from), handle));
                    }
                }
                if let Some((from, to)) = first {
                    rebuilt.push(Statement::Emit(naga::Range::new_from_bounds(from, to)), span);
                }
                continue;
            }
            other => blocks(other).into_iter().for_each(|inner| split(inner, calls)),
        }
        rebuilt.push(statement, span);
    }
    *block = rebuilt;
}

/// Sets the helpers' zero at the start of the entry point, and shuffles the workgroups.
fn begin(entry: &mut Function, vec3: Handle<naga::Type>, find: &dyn Fn(&str) -> Handle<Function>, shuffles: bool) {
    let built_in = |entry: &Function, i: u32| match entry.arguments[i as usize].binding {
        Some(naga::Binding::BuiltIn(built_in)) => built_in,
        ref other => panic!("an entry point with {other:?}"),
    };
    let groups = naga::FunctionArgument {
        name: Some("hostile_groups".into()),
        ty: vec3,
        binding: Some(naga::Binding::BuiltIn(naga::BuiltIn::NumWorkGroups)),
    };
    entry.arguments.push(groups);
    let last = entry.arguments.len() as u32 - 1;
    let groups = entry.expressions.append(Expression::FunctionArgument(last), naga::Span::default());
    let call = |function, arguments, result| Statement::Call { function, arguments, result };
    let mut body = vec![call(find("begin"), vec![groups], None)];
    let ids: Vec<_> = entry
        .expressions
        .iter()
        .filter_map(|(handle, expression)| match *expression {
            Expression::FunctionArgument(i) if i != last => match built_in(entry, i) {
                naga::BuiltIn::WorkGroupId => Some((handle, i, "group")),
                naga::BuiltIn::GlobalInvocationId => Some((handle, i, "invocation")),
                _ => None,
            },
            _ => None,
        })
        .collect();
    for (handle, i, helper) in ids.into_iter().filter(|_| shuffles) {
        let given = entry.expressions.append(Expression::FunctionArgument(i), naga::Span::default());
        entry.expressions[handle] = Expression::CallResult(find(helper));
        body.push(call(find(helper), vec![given, groups], Some(handle)));
    }
    let mut whole = Block::from_vec(body);
    whole.extend_block(std::mem::take(&mut entry.body));
    entry.body = whole;
}
