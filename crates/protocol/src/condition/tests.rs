use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> Condition {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    text.parse::<Condition>().map(|condition| condition.to_string()).expect_err(text)
}

fn path(array: &str, members: &[&str]) -> NumberPath {
    NumberPath { array: array.into(), members: members.iter().map(|name| name.to_string()).collect() }
}

#[test]
fn and_binds_closer_than_or() {
    let nan = |name: &str| ConditionTest::Found {
        function: Function::Nan,
        abs: false,
        path: path(name, &[]),
        relation: Relation::Greater,
        number: 0.0,
    };
    let condition = parsed("nan(a) > 0 and nan(b)>0 or nan ( c )  >  0.0");
    assert_eq!(condition, Condition { alternatives: vec![vec![nan("a"), nan("b")], vec![nan("c")]] });
    assert_eq!(condition.to_string(), "nan(a) > 0.0 and nan(b) > 0.0 or nan(c) > 0.0");
}

#[test]
fn every_form_is_parsed() {
    let speed = ConditionTest::Found {
        function: Function::Max,
        abs: true,
        path: path("u", &["y"]),
        relation: Relation::AtLeast,
        number: -1.5e-3,
    };
    assert_eq!(parsed(" max( abs( u . y ) ) >= -1.5e-3 ").alternatives, [[speed]]);
    let member = ConditionTest::Found {
        function: Function::Min,
        abs: false,
        path: path("my particles", &["first.x", "0"]),
        relation: Relation::Different,
        number: f64::INFINITY,
    };
    assert_eq!(parsed(r#"min("my particles"."first.x".0)!=inf"#).alternatives, [[member]]);
    let same = |first: &str, second: &str, same| ConditionTest::Same { arrays: [first.into(), second.into()], same };
    assert_eq!(parsed("now==next").alternatives, [[same("now", "next", true)]]);
    assert_eq!(parsed(r#""a \"b\" \\" != Größe_2"#).alternatives, [[same(r#"a "b" \"#, "Größe_2", false)]]);
    assert_eq!(parsed("max != abs").alternatives, [[same("max", "abs", false)]]);
    let of_abs = ConditionTest::Found {
        function: Function::Sum,
        abs: false,
        path: path("abs", &["x"]),
        relation: Relation::AtMost,
        number: 7.0,
    };
    assert_eq!(parsed("sum(abs.x) <= 7").alternatives, [[of_abs]]);
    for (text, function) in [("stale(f) > 0", Function::Stale), ("unfilled(f) > 0", Function::Unfilled)] {
        let ConditionTest::Found { function: found, .. } = &parsed(text).alternatives[0][0] else { panic!("{text}") };
        assert_eq!(*found, function);
    }
    for (sign, relation) in [("<", Relation::Less), ("==", Relation::Equal), (">", Relation::Greater)] {
        let text = format!("inf(f){sign}1");
        let ConditionTest::Found { relation: found, .. } = &parsed(&text).alternatives[0][0] else { panic!("{text}") };
        assert_eq!(*found, relation);
    }
}

#[test]
fn invalid_text_is_refused_with_column_and_expected_text() {
    let functions = "nan, inf, min, max, sum, stale, unfilled";
    let cases = [
        ("", "column 1: expected a function, such as nan(f), or the name of an array, found the end".to_string()),
        ("mean(f) > 1", format!("column 1: expected one of the functions {functions}, found \"mean\"")),
        (
            "abs(f) > 1",
            format!("column 1: expected one of the functions {functions} around abs(…), as in max(abs(f)) > 1, found \"abs\""),
        ),
        ("max(f) 1", "column 8: expected one of > >= < <= == !=, found \"1\"".into()),
        ("max(f) = 1", "column 8: expected one of > >= < <= == !=, found \"=\"; equality is `==`".into()),
        ("max(f) > x", "column 10: expected a number, such as 0.3 or -1e-6, found \"x\"".into()),
        ("max(f) > 0.3.1", "column 10: expected a number, such as 0.3 or -1e-6, found \"0\"".into()),
        ("max(f) > NaN", "column 10: a condition cannot compare with NaN; nan(f) > 0 finds NaNs".into()),
        ("max(f > 1", "column 7: expected `.` and a member or component, or `)`, found \">\"".into()),
        ("max(abs(f) > 1", "column 12: expected `)`, found \">\"".into()),
        ("max() > 1", "column 5: expected the name of an array or abs(…), found \")\"".into()),
        ("max(f.) > 1", "column 7: expected the name of a member, or a component: x, y, z, w or its number, found \")\"".into()),
        ("sum(abs(f)) > 1", "column 5: abs is not allowed in sum(…)".into()),
        ("stale(f.x) > 1", "column 8: only whole arrays are allowed in stale(…): remove this".into()),
        ("a.x != b", "column 2: only whole arrays are allowed in a comparison: remove this".into()),
        (
            "f > 1",
            "column 3: expected `==` or `!=` and another array; numbers come from functions, as in max(f) > 1, found \">\"".into(),
        ),
        ("a == and", "column 6: expected the name of an array, found \"and\"".into()),
        ("a == b c", "column 8: expected `and`, `or` or the end, found \"c\"".into()),
        ("a == b && c == d", "column 8: expected `and`, `or` or the end, found \"&\"".into()),
        ("a == b or", "column 10: expected a function, such as nan(f), or the name of an array, found the end".into()),
        ("a == \"ü\" and \"b", "column 14: the name that begins here has no closing `\"`".into()),
        (r#"a == "b\n""#, r#"column 8: within quotes only `\"` and `\\` begin with a backslash"#.into()),
    ];
    for (text, error) in cases {
        assert_eq!(refused(text), error, "{text}");
    }
    let many = |count: usize| vec!["a != b"; count].join(" or ");
    assert_eq!(parsed(&many(64)).alternatives.len(), 64);
    assert_eq!(refused(&many(65)), "column 638: a condition has at most 64 tests");
    let long = refused(&"x".repeat(60_000));
    assert!(long.len() < 200, "{long}");
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z][a-z0-9_]{0,5}", "and|or|abs|max|nan|inf|x|0", ".{0,6}", r#"[". \\(]{0,4}"#]
}

fn test() -> impl Strategy<Value = ConditionTest> {
    let number = any::<f64>().prop_filter("no test has one", |number| !number.is_nan());
    let path = (name(), prop::collection::vec(name(), 0..3)).prop_map(|(array, members)| NumberPath { array, members });
    let relation = prop::sample::select(&Relation::ALL[..]);
    let found = (prop::sample::select(&Function::ALL[..]), any::<bool>(), path, relation, number).prop_map(
        |(function, abs, mut path, relation, number)| {
            let abs = abs && !function.is_about_ghosts() && function != Function::Sum;
            if function.is_about_ghosts() {
                path.members.clear();
            }
            ConditionTest::Found { function, abs, path, relation, number }
        },
    );
    let same = (name(), name(), any::<bool>());
    prop_oneof![found, same.prop_map(|(first, second, same)| ConditionTest::Same { arrays: [first, second], same })]
}

proptest! {
    #[test]
    fn printed_condition_parses_to_itself(alternatives in prop::collection::vec(prop::collection::vec(test(), 1..4), 1..4)) {
        let condition = Condition { alternatives };
        let text = condition.to_string();
        prop_assert_eq!(text.parse::<Condition>(), Ok(condition), "{}", text);
    }

    #[test]
    fn arbitrary_text_parses_or_is_refused(text in prop_oneof![".*", r#"[a-f.()"\\ <>=!0-9]{0,40}"#, "(max|abs|nan|and|or|[(). \"=>1])*"]) {
        if let Ok(condition) = text.parse::<Condition>() {
            prop_assert_eq!(condition.to_string().parse::<Condition>(), Ok(condition), "{}", text);
        }
    }
}
