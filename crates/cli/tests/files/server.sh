#!/bin/sh
echo started >>started
id() { sed 's/.*"id":\([0-9]*\).*/\1/'; }
while read -r line; do
  n=$(echo "$line" | id)
  case $line in
    *'"server/discover"'*) echo '{"jsonrpc":"2.0","id":'$n',"error":{"code":-32601,"message":"no"}}' ;;
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$n',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$n',"result":{"tools":[{"name":"look","description":"Looks.","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$n',"result":{"content":[{"type":"text","text":"a ship"}]}}' ;;
  esac
done
echo ended >>started
