//! Who may call the studio.

use super::client::Served;

#[tokio::test]
async fn the_token_becomes_a_cookie() {
    let studio = Served::empty().await;
    let (host, token) = (&studio.host, &studio.token);
    let enter = |token: &str| {
        format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
    };

    let answer = studio.send(&enter(token)).await;
    assert_eq!(answer.status, 303);
    assert_eq!(answer.header("location"), Some("/"));
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    assert!(
        cookie.contains("httponly") && cookie.contains("samesite=strict"),
        "{cookie}"
    );

    let cookie = cookie.split(';').next().unwrap();
    let page = format!(
        "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: other=1; {cookie}\r\n\r\n"
    );
    let page = studio.send(&page).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<!DOCTYPE html>"));
    assert!(!page.body.contains(token.as_str()));

    for wrong in [
        "",
        "x",
        &token[1..],
        &format!("{token}0"),
        &token.to_uppercase(),
    ] {
        let answer = studio.send(&enter(wrong)).await;
        assert_eq!(answer.status, 403, "{wrong}");
        assert_eq!(answer.header("set-cookie"), None);
    }
}

#[tokio::test]
async fn nothing_is_answered_without_a_token() {
    let studio = Served::empty().await;
    let host = &studio.host;
    let paths = [
        "/",
        "/assets/studio.js",
        "/api/runs",
        "/api/run?id=a",
        "/api/run/events?id=a",
        "/api/flows",
        "/none",
    ];

    for path in paths {
        for header in [
            "",
            "Cookie: cogwork_studio=x\r\n",
            "Authorization: Bearer x\r\n",
        ] {
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{header}\r\n");
            let answer = studio.send(&request).await;
            assert_eq!(answer.status, 403, "{path} {header}");
            assert!(answer.error().contains("token"));
        }
    }

    // A token in the address only opens the page.
    let path = format!("/api/runs?token={}", studio.token);
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    assert_eq!(studio.send(&request).await.status, 403);
}

#[tokio::test]
async fn another_host_is_refused_even_with_the_token() {
    let studio = Served::empty().await;
    let Served { host, token, .. } = &studio;
    let port = host.rsplit(':').next().unwrap();
    let request = |hosts: &str| {
        format!(
            "GET /api/runs HTTP/1.1\r\n{hosts}Connection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
        )
    };

    for own in [
        format!("localhost:{port}"),
        format!("[::1]:{port}"),
        host.clone(),
    ] {
        let answer = studio.send(&request(&format!("Host: {own}\r\n"))).await;
        assert_eq!(answer.status, 200, "{own}");
    }

    let foreign = [
        format!("Host: evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        "Host: 127.0.0.1:1\r\n".to_owned(),
        format!("Host: 127.0.0.1:{port}.evil.example\r\n"),
        format!("Host: {host}\r\nHost: evil.example\r\n"),
        String::new(),
    ];
    for hosts in foreign {
        let answer = studio.send(&request(&hosts)).await;
        assert!(matches!(answer.status, 400 | 403), "{hosts}: {answer:?}");
    }
}

#[tokio::test]
async fn another_page_is_refused_even_with_the_cookie() {
    let studio = Served::empty().await;
    let own = format!("Origin: http://{}\r\n", studio.host);
    let answer = studio.send(&studio.request("/api/runs", &own)).await;
    assert_eq!(answer.status, 200);

    let foreign = [
        "Origin: https://evil.example\r\n".to_owned(),
        "Origin: null\r\n".to_owned(),
        "Origin: http://127.0.0.1:1\r\n".to_owned(),
        format!("Origin: https://{}\r\n", studio.host),
        format!("{own}Origin: https://evil.example\r\n"),
        "Sec-Fetch-Site: cross-site\r\n".to_owned(),
        "Sec-Fetch-Site: same-site\r\n".to_owned(),
    ];
    for header in foreign {
        let answer = studio.send(&studio.request("/api/runs", &header)).await;
        assert_eq!(answer.status, 403, "{header}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[tokio::test]
async fn each_answer_has_the_headers_that_protect_it() {
    let studio = Served::empty().await;
    for path in [
        "/",
        "/api/runs",
        "/none",
        "/assets/studio.js",
        "/assets/studio.css",
    ] {
        let answer = studio.get(path).await;
        let policy = answer.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{path}");
        }
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        let policy = answer.header("cross-origin-resource-policy");
        assert_eq!(policy, Some("same-origin"));
    }
    assert_eq!(studio.get("/none").await.status, 404);
}
